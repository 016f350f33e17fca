package io.delayqueue.store;

import java.time.Duration;

import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.SendOutcome;
import io.delayqueue.StoredMessage;
import org.junit.jupiter.api.Test;

import static io.delayqueue.store.StoreValues.DELAY;
import static io.delayqueue.store.StoreValues.ID;
import static io.delayqueue.store.StoreValues.LEASE;
import static io.delayqueue.store.StoreValues.at;
import static io.delayqueue.store.StoreValues.envelope;
import static io.delayqueue.store.StoreValues.firstAttempt;
import static io.delayqueue.store.StoreValues.held;
import static io.delayqueue.store.StoreValues.inLane;
import static io.delayqueue.store.StoreValues.keep;
import static io.delayqueue.store.StoreValues.letter;
import static io.delayqueue.store.StoreValues.result;
import static io.delayqueue.store.StoreValues.suspect;
import static io.delayqueue.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code schedule} with KEEP, in each state. */
abstract class SendKeepCases extends StoreCases {

    SendKeepCases(MessageStoreContract contract) {
        super(contract);
    }

    @Test
    void storesAMessageThatTheQueueDoesNotHold() {
        assertThat(this.dq.send(keep("first", DELAY))).isEqualTo(result(SendOutcome.SCHEDULED, at(10)));

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
        assertThat(this.dq.claim()).isEqualTo(Claimed.nothing(at(10)));
    }

    @Test
    void keepsAMessageThatWaits() {
        this.dq.scheduled();

        assertThat(this.dq.send(keep("second", LEASE))).isEqualTo(result(SendOutcome.KEPT, at(10)));

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void keepsAMessageThatIsDue() {
        this.dq.due();

        assertThat(this.dq.send(keep("second", DELAY))).isEqualTo(result(SendOutcome.KEPT, at(0)));

        assertThat(this.dq.claim()).isEqualTo(Claimed.of(firstAttempt("first", at(0))));
    }

    @Test
    void keepsAMessageThatIsLeased() {
        Lease lease = this.dq.leased();
        this.dq.advance(DELAY);

        // A plain message that is leased was due by now; that is all that is known.
        assertThat(this.dq.send(keep("second", DELAY))).isEqualTo(result(SendOutcome.KEPT, at(10)));

        assertThat(this.dq.find()).contains(held("first", at(30)));
        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void keepsAMessageThatIsLeasedAndTellsItsDueTimeWhereItIsKnown() {
        this.dq.send(inLane(7, ID, Duration.ZERO));
        this.dq.advance(DELAY);
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.send(keep("second", DELAY))).isEqualTo(result(SendOutcome.KEPT, at(0)));

        assertThat(this.dq.retry(lease)).isTrue();
        assertThat(this.dq.find()).map(StoredMessage::failures).contains(1);
    }

    @Test
    void endsALeaseThatRanOutAndKeepsItsMessage() {
        Lease lease = this.dq.lapsed();

        assertThat(this.dq.send(keep("second", DELAY))).isEqualTo(result(SendOutcome.KEPT, at(30)));

        assertThat(this.dq.find()).contains(waiting("first", at(30)));
        assertThat(this.dq.acknowledge(lease)).isFalse();
        assertThat(this.dq.claim()).isEqualTo(Claimed.of(suspect(at(30), at(30), 0, 0)));
    }

    @Test
    void keepsTheFirstSuccessor() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.send(keep("third", LEASE))).isEqualTo(result(SendOutcome.KEPT, at(10)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void keepsTheSuccessorOfALeaseThatRanOut() {
        this.dq.withSuccessor();
        this.dq.advance(LEASE);

        assertThat(this.dq.send(keep("third", LEASE))).isEqualTo(result(SendOutcome.KEPT, at(10)));

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void followsAMessageThatIsLeasedAndCancelled() {
        Lease lease = this.dq.cancelled();

        assertThat(this.dq.send(keep("second", DELAY))).isEqualTo(result(SendOutcome.AFTER_CURRENT, at(10)));

        assertThat(this.dq.retry(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void keepsTheSuccessorOfAMessageThatIsLeasedAndCancelled() {
        Lease lease = this.dq.cancelled();
        this.dq.send(keep("second", DELAY));

        assertThat(this.dq.send(keep("third", LEASE))).isEqualTo(result(SendOutcome.KEPT, at(10)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void storesAMessageWhoseCancelledLeaseRanOut() {
        this.dq.cancelled();
        this.dq.advance(LEASE);

        assertThat(this.dq.send(keep("second", DELAY))).isEqualTo(result(SendOutcome.SCHEDULED, at(40)));

        assertThat(this.dq.find()).contains(waiting("second", at(40)));
    }

    @Test
    void storesAMessageWhoseIdHasADeadLetter() {
        Lease lease = this.dq.dead();

        assertThat(this.dq.send(keep("second", DELAY))).isEqualTo(result(SendOutcome.SCHEDULED, at(10)));

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
        assertThat(this.dq.letters()).containsExactly(letter(lease, at(0)));
    }

    @Test
    void answersARepeatedSendAsTheFirst() {
        assertThat(this.dq.replayStamped(() -> this.dq.send(keep("first", DELAY))))
            .isEqualTo(result(SendOutcome.SCHEDULED, at(10)));

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
        assertThat(this.dq.statistics().scheduled()).isEqualTo(1);
    }

    @Test
    void answersARepeatedSendToAnIdThatWaitsAsTheFirst() {
        this.dq.scheduled();

        assertThat(this.dq.replayStamped(() -> this.dq.send(keep("second", LEASE))))
            .isEqualTo(result(SendOutcome.KEPT, at(10)));

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void answersARepeatedSendToAMessageThatIsLeasedAsTheFirst() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.replayStamped(() -> this.dq.send(keep("second", DELAY))))
            .isEqualTo(result(SendOutcome.KEPT, at(0)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void answersARepeatedSendToAMessageThatIsLeasedAndCancelledAsTheFirst() {
        Lease lease = this.dq.cancelled();

        assertThat(this.dq.replayStamped(() -> this.dq.send(keep("second", DELAY))))
            .isEqualTo(result(SendOutcome.AFTER_CURRENT, at(10)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void treatsAGeneratedIdAsAnyOther() {
        NewMessage message = new NewMessage(ID, true, DueTime.after(DELAY), OnDuplicate.KEEP,
                MessageLimits.NORMAL_PRIORITY, null, null, envelope("first"));

        assertThat(this.dq.send(message)).isEqualTo(result(SendOutcome.SCHEDULED, at(10)));

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void keepsOneMessageOfAnIdPerQueue() {
        this.dq.scheduled();
        assertThat(this.dq.send(keep("second", DELAY)).outcome()).isEqualTo(SendOutcome.KEPT);

        this.dq.advance(DELAY);

        assertThat(this.dq.claim().ids()).containsExactly(ID);
        assertThat(this.dq.claim()).isEqualTo(Claimed.nothing(at(40)));
    }

}
