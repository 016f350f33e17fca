package io.delayqueue.store.contract.settle;

import java.time.Duration;

import io.delayqueue.RedriveResult;
import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.Lease;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.firstAttempt;
import static io.delayqueue.fixtures.store.StoreValues.held;
import static io.delayqueue.fixtures.store.StoreValues.keep;
import static io.delayqueue.fixtures.store.StoreValues.deadLetterOf;
import static io.delayqueue.fixtures.store.StoreValues.neverGiven;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code redrive}, by the state of the id. */
public abstract class RedriveCases extends StoreCases {

    public RedriveCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void findsNoUnknownDeadLetter() {
        assertThat(this.dq.redrive(neverGiven())).isEqualTo(RedriveResult.NOT_FOUND);
    }

    @Test
    void findsNoDeadLetterInAScheduledMessage() {
        this.dq.scheduled();

        assertThat(this.dq.redrive(neverGiven())).isEqualTo(RedriveResult.NOT_FOUND);

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void makesTheMessageDueNowWithItsAttemptsAtZero() {
        Lease dead = this.dq.dead();
        this.dq.advance(DELAY);

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.REDRIVEN);

        assertThat(this.dq.deadLetters()).isEmpty();
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(firstAttempt("first", at(10))));
    }

    @Test
    void leavesTheDeadLetterWhileTheIdIsScheduled() {
        Lease dead = this.dq.dead();
        this.dq.send(keep("second", DELAY));

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.ID_IN_USE);

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(dead, at(0)));
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void leavesTheDeadLetterWhileTheIdIsDue() {
        Lease dead = this.dq.dead();
        this.dq.due();

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.ID_IN_USE);

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(dead, at(0)));
    }

    @Test
    void leavesTheDeadLetterWhileTheIdIsLeased() {
        Lease dead = deadThenLeased();

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.ID_IN_USE);

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(dead, at(0)));
        assertThat(this.dq.find()).contains(held("first", at(31)));
    }

    @Test
    void leavesTheDeadLetterWhenALeaseOfTheIdRanOut() {
        Lease dead = deadThenLeased();
        this.dq.advance(LEASE);

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.ID_IN_USE);

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(dead, at(0)));
        assertThat(this.dq.find()).contains(waiting("first", at(31)));
    }

    @Test
    void leavesTheDeadLetterWhileTheIdHasASuccessor() {
        Lease dead = deadThenLeased();
        this.dq.send(keep("second", DELAY));

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.ID_IN_USE);

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(dead, at(0)));
    }

    @Test
    void leavesTheDeadLetterWhileTheIdIsLeasedAndCancelled() {
        Lease dead = deadThenLeased();
        this.dq.cancel();

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.ID_IN_USE);

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(dead, at(0)));
    }

    @Test
    void makesTheMessageDueOnceACancelledLeaseOfTheIdRanOut() {
        Lease dead = deadThenLeased();
        this.dq.cancel();
        this.dq.advance(LEASE);

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.REDRIVEN);

        assertThat(this.dq.find()).contains(waiting("first", at(31)));
        assertThat(this.dq.deadLetters()).isEmpty();
    }

    @Test
    void answersARepeatedCallAsTheFirst() {
        Lease dead = this.dq.dead();

        assertThat(this.dq.replayStamped(() -> this.dq.redrive(dead))).isEqualTo(RedriveResult.REDRIVEN);

        assertThat(this.dq.find()).contains(waiting("first", at(0)));
        assertThat(this.dq.statistics().scheduled()).isEqualTo(1);
    }

    @Test
    void findsNoDeadLetterOnceItIsRedriven() {
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
