package io.delayqueue.store;

import java.time.Duration;

import io.delayqueue.RedriveResult;
import org.junit.jupiter.api.Test;

import static io.delayqueue.store.StoreValues.DELAY;
import static io.delayqueue.store.StoreValues.LEASE;
import static io.delayqueue.store.StoreValues.at;
import static io.delayqueue.store.StoreValues.firstAttempt;
import static io.delayqueue.store.StoreValues.held;
import static io.delayqueue.store.StoreValues.keep;
import static io.delayqueue.store.StoreValues.letter;
import static io.delayqueue.store.StoreValues.neverGiven;
import static io.delayqueue.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code redrive}, by the state of the id. */
abstract class RedriveCases extends StoreCases {

    RedriveCases(MessageStoreContract contract) {
        super(contract);
    }

    @Test
    void findsNoLetterThatIsNotThere() {
        assertThat(this.dq.redrive(neverGiven())).isEqualTo(RedriveResult.NOT_FOUND);
    }

    @Test
    void findsNoLetterInAMessageThatWaits() {
        this.dq.scheduled();

        assertThat(this.dq.redrive(neverGiven())).isEqualTo(RedriveResult.NOT_FOUND);

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void makesTheMessageDueNowWithItsAttemptsAnew() {
        Lease dead = this.dq.dead();
        this.dq.advance(DELAY);

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.REDRIVEN);

        assertThat(this.dq.letters()).isEmpty();
        assertThat(this.dq.claim()).isEqualTo(Claimed.of(firstAttempt("first", at(10))));
    }

    @Test
    void leavesTheLetterWhileTheIdWaits() {
        Lease dead = this.dq.dead();
        this.dq.send(keep("second", DELAY));

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.ID_IN_USE);

        assertThat(this.dq.letters()).containsExactly(letter(dead, at(0)));
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void leavesTheLetterWhileTheIdIsDue() {
        Lease dead = this.dq.dead();
        this.dq.due();

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.ID_IN_USE);

        assertThat(this.dq.letters()).containsExactly(letter(dead, at(0)));
    }

    @Test
    void leavesTheLetterWhileTheIdIsLeased() {
        Lease dead = deadThenLeased();

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.ID_IN_USE);

        assertThat(this.dq.letters()).containsExactly(letter(dead, at(0)));
        assertThat(this.dq.find()).contains(held("first", at(31)));
    }

    @Test
    void leavesTheLetterWhenALeaseOfTheIdRanOut() {
        Lease dead = deadThenLeased();
        this.dq.advance(LEASE);

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.ID_IN_USE);

        assertThat(this.dq.letters()).containsExactly(letter(dead, at(0)));
        assertThat(this.dq.find()).contains(waiting("first", at(31)));
    }

    @Test
    void leavesTheLetterWhileTheIdHasASuccessor() {
        Lease dead = deadThenLeased();
        this.dq.send(keep("second", DELAY));

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.ID_IN_USE);

        assertThat(this.dq.letters()).containsExactly(letter(dead, at(0)));
    }

    @Test
    void leavesTheLetterWhileTheIdIsLeasedAndCancelled() {
        Lease dead = deadThenLeased();
        this.dq.cancel();

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.ID_IN_USE);

        assertThat(this.dq.letters()).containsExactly(letter(dead, at(0)));
    }

    @Test
    void makesTheMessageDueOnceACancelledLeaseOfTheIdRanOut() {
        Lease dead = deadThenLeased();
        this.dq.cancel();
        this.dq.advance(LEASE);

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.REDRIVEN);

        assertThat(this.dq.find()).contains(waiting("first", at(31)));
        assertThat(this.dq.letters()).isEmpty();
    }

    @Test
    void answersARepeatedCallAsTheFirst() {
        Lease dead = this.dq.dead();

        assertThat(this.dq.replayStamped(() -> this.dq.redrive(dead))).isEqualTo(RedriveResult.REDRIVEN);

        assertThat(this.dq.find()).contains(waiting("first", at(0)));
        assertThat(this.dq.statistics().scheduled()).isEqualTo(1);
    }

    @Test
    void findsNoLetterOnceItIsRedriven() {
        Lease dead = this.dq.dead();
        this.dq.redrive(dead);

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.NOT_FOUND);

        assertThat(this.dq.find()).contains(waiting("first", at(0)));
    }

    private Lease deadThenLeased() {
        Lease dead = this.dq.dead();
        this.dq.advance(Duration.ofSeconds(1));
        this.dq.leased();
        return dead;
    }

}
