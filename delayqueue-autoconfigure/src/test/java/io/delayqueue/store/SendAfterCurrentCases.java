package io.delayqueue.store;

import io.delayqueue.SendOutcome;
import org.junit.jupiter.api.Test;

import static io.delayqueue.store.StoreValues.DELAY;
import static io.delayqueue.store.StoreValues.LEASE;
import static io.delayqueue.store.StoreValues.at;
import static io.delayqueue.store.StoreValues.firstAttempt;
import static io.delayqueue.store.StoreValues.follow;
import static io.delayqueue.store.StoreValues.held;
import static io.delayqueue.store.StoreValues.letter;
import static io.delayqueue.store.StoreValues.result;
import static io.delayqueue.store.StoreValues.suspect;
import static io.delayqueue.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code schedule} with AFTER_CURRENT, in each state. */
abstract class SendAfterCurrentCases extends StoreCases {

    SendAfterCurrentCases(MessageStoreContract contract) {
        super(contract);
    }

    @Test
    void storesAMessageThatTheQueueDoesNotHold() {
        assertThat(this.dq.send(follow("first", DELAY))).isEqualTo(result(SendOutcome.SCHEDULED, at(10)));

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
        assertThat(this.dq.claim()).isEqualTo(Claimed.nothing(at(10)));
    }

    @Test
    void keepsAMessageThatWaits() {
        this.dq.scheduled();

        assertThat(this.dq.send(follow("second", LEASE))).isEqualTo(result(SendOutcome.KEPT, at(10)));

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void keepsAMessageThatIsDue() {
        this.dq.due();

        assertThat(this.dq.send(follow("second", DELAY))).isEqualTo(result(SendOutcome.KEPT, at(0)));

        assertThat(this.dq.claim()).isEqualTo(Claimed.of(firstAttempt("first", at(0))));
    }

    @Test
    void followsAMessageThatIsLeased() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.send(follow("second", DELAY))).isEqualTo(result(SendOutcome.AFTER_CURRENT, at(10)));

        assertThat(this.dq.find()).contains(held("first", at(30)));
        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void endsALeaseThatRanOutAndKeepsItsMessage() {
        Lease lease = this.dq.lapsed();

        assertThat(this.dq.send(follow("second", DELAY))).isEqualTo(result(SendOutcome.KEPT, at(30)));

        assertThat(this.dq.find()).contains(waiting("first", at(30)));
        assertThat(this.dq.acknowledge(lease)).isFalse();
        assertThat(this.dq.claim()).isEqualTo(Claimed.of(suspect(at(30), at(30), 0, 0)));
    }

    @Test
    void keepsTheFirstSuccessor() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.send(follow("third", LEASE))).isEqualTo(result(SendOutcome.KEPT, at(10)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void keepsTheSuccessorOfALeaseThatRanOut() {
        this.dq.withSuccessor();
        this.dq.advance(LEASE);

        assertThat(this.dq.send(follow("third", LEASE))).isEqualTo(result(SendOutcome.KEPT, at(10)));

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void followsAMessageThatIsLeasedAndCancelled() {
        Lease lease = this.dq.cancelled();

        assertThat(this.dq.send(follow("second", DELAY))).isEqualTo(result(SendOutcome.AFTER_CURRENT, at(10)));

        assertThat(this.dq.retry(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void storesAMessageWhoseCancelledLeaseRanOut() {
        this.dq.cancelled();
        this.dq.advance(LEASE);

        assertThat(this.dq.send(follow("second", DELAY))).isEqualTo(result(SendOutcome.SCHEDULED, at(40)));

        assertThat(this.dq.find()).contains(waiting("second", at(40)));
    }

    @Test
    void storesAMessageWhoseIdHasADeadLetter() {
        Lease lease = this.dq.dead();

        assertThat(this.dq.send(follow("second", DELAY))).isEqualTo(result(SendOutcome.SCHEDULED, at(10)));

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
        assertThat(this.dq.letters()).containsExactly(letter(lease, at(0)));
    }

    @Test
    void answersARepeatedSendAsTheFirst() {
        assertThat(this.dq.replayStamped(() -> this.dq.send(follow("first", DELAY))))
            .isEqualTo(result(SendOutcome.SCHEDULED, at(10)));

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
        assertThat(this.dq.statistics().scheduled()).isEqualTo(1);
    }

    @Test
    void answersARepeatedSendToAnIdThatWaitsAsTheFirst() {
        this.dq.scheduled();

        assertThat(this.dq.replayStamped(() -> this.dq.send(follow("second", LEASE))))
            .isEqualTo(result(SendOutcome.KEPT, at(10)));

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void answersARepeatedSendOfASuccessorAsTheFirst() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.replayStamped(() -> this.dq.send(follow("second", DELAY))))
            .isEqualTo(result(SendOutcome.AFTER_CURRENT, at(10)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

}
