package io.delayqueue.store.contract.send;

import java.time.Duration;

import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.SendOutcome;
import io.delayqueue.StoredMessage;
import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.ID;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.envelope;
import static io.delayqueue.fixtures.store.StoreValues.held;
import static io.delayqueue.fixtures.store.StoreValues.inLane;
import static io.delayqueue.fixtures.store.StoreValues.result;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code schedule} with KEEP, in each state. */
public abstract class SendKeepCases extends SendKeepingCases {

    public SendKeepCases(StoreFixture contract) {
        super(contract, OnDuplicate.KEEP);
    }

    @Test
    void keepsAMessageThatIsLeased() {
        Lease lease = this.dq.leased();
        this.dq.advance(DELAY);

        // A plain message that is leased was due by now; that is all that is known.
        assertThat(this.dq.send(message("second", DELAY))).isEqualTo(result(SendOutcome.KEPT, at(10)));

        assertThat(this.dq.find()).contains(held("first", at(30)));
        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void keepsALeasedMessageAndReturnsItsDueTimeIfItIsStored() {
        this.dq.send(inLane(7, ID, Duration.ZERO));
        this.dq.advance(DELAY);
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.send(message("second", DELAY))).isEqualTo(result(SendOutcome.KEPT, at(0)));

        assertThat(this.dq.retry(lease)).isTrue();
        assertThat(this.dq.find()).map(StoredMessage::failures).contains(1);
    }

    @Test
    void keepsTheSuccessorOfAMessageThatIsLeasedAndCancelled() {
        Lease lease = this.dq.cancelled();
        this.dq.send(message("second", DELAY));

        assertThat(this.dq.send(message("third", LEASE))).isEqualTo(result(SendOutcome.KEPT, at(10)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void answersARepeatedSendToAMessageThatIsLeasedAsTheFirst() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.replayStamped(() -> this.dq.send(message("second", DELAY))))
            .isEqualTo(result(SendOutcome.KEPT, at(0)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void answersARepeatedSendToAMessageThatIsLeasedAndCancelledAsTheFirst() {
        Lease lease = this.dq.cancelled();

        assertThat(this.dq.replayStamped(() -> this.dq.send(message("second", DELAY))))
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
        assertThat(this.dq.send(message("second", DELAY)).outcome()).isEqualTo(SendOutcome.KEPT);

        this.dq.advance(DELAY);

        assertThat(this.dq.claim().ids()).containsExactly(ID);
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(40)));
    }

}
