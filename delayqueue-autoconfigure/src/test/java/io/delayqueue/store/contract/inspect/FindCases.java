package io.delayqueue.store.contract.inspect;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.delayqueue.MessageState;
import io.delayqueue.OnDuplicate;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.QueueStatistics;
import io.delayqueue.StoredMessage;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.ID;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.QUEUE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.called;
import static io.delayqueue.fixtures.store.StoreValues.held;
import static io.delayqueue.fixtures.store.StoreValues.inLane;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** {@code find} and {@code statistics}, in each state. */
public abstract class FindCases extends StoreCases {

    public FindCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void findsNothingInAnEmptyQueue() {
        assertThat(this.dq.find()).isEmpty();
        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics(QUEUE.queue().value(), 0, 0, 0, 0, null));
    }

    @Test
    void showsAMessageThatWaits() {
        this.dq.scheduled();

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics(QUEUE.queue().value(), 1, 0, 0, 0, at(10)));
    }

    @Test
    void showsAMessageThatIsDue() {
        this.dq.due();

        assertThat(this.dq.find()).contains(waiting("first", at(0)));
        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics(QUEUE.queue().value(), 1, 1, 0, 0, at(0)));
    }

    @Test
    void showsAMessageThatIsLeased() {
        this.dq.leased();

        assertThat(this.dq.find()).contains(held("first", at(30)));
        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics(QUEUE.queue().value(), 0, 0, 1, 0, null));
    }

    @Test
    void showsAMessageThatIsLeasedByAnother() {
        this.dq.leasedByAnother();

        assertThat(this.dq.find()).contains(held("first", at(60)));
    }

    @Test
    void showsALeaseThatRanOutAsAMessageThatWaits() {
        Lease lease = this.dq.lapsed();

        assertThat(this.dq.find()).contains(waiting("first", at(30)));
        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics(QUEUE.queue().value(), 1, 1, 0, 0, at(30)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
    }

    @Test
    void showsAMessageWhoseLeaseWasEnded() {
        this.dq.noticed();

        assertThat(this.dq.find()).contains(waiting("first", at(30)));
        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics(QUEUE.queue().value(), 1, 1, 0, 0, at(30)));
    }

    @Test
    void showsWhatIsLeasedAndNotItsSuccessor() {
        this.dq.withSuccessor();

        assertThat(this.dq.find()).contains(held("first", at(30)));
        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics(QUEUE.queue().value(), 0, 0, 1, 0, null));
    }

    @Test
    void showsACancelledMessageWhileItIsLeased() {
        this.dq.cancelled();

        assertThat(this.dq.find()).contains(held("first", at(30)));
    }

    @Test
    void doesNotShowADeadLetter() {
        this.dq.dead();

        assertThat(this.dq.find()).isEmpty();
        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics(QUEUE.queue().value(), 0, 0, 0, 1, null));
    }

    @Test
    void showsPriorityExpiryAndHeaders() {
        this.dq.send(new NewMessage(ID, false, DueTime.after(DELAY), OnDuplicate.KEEP, 7, LEASE, "g",
                "{\"v\":1,\"headers\":{\"h\":\"1\"},\"payload\":2}".getBytes(StandardCharsets.UTF_8)));

        assertThat(this.dq.find()).contains(new StoredMessage(QUEUE.queue().value(), ID, MessageState.SCHEDULED, at(10),
                null, at(40), 7, "g", 0, 0, null, "2", Map.of("h", "1")));
    }

    @Test
    void failsForAMessageThatIsNotReadable() {
        this.dq.send(NewMessage.of(ID, DueTime.NOW, "not JSON".getBytes(StandardCharsets.UTF_8)));

        assertThatThrownBy(() -> this.dq.find()).hasRootCauseInstanceOf(PayloadConversionException.class);
    }

    @Test
    void countsAllLanes() {
        this.dq.sendAll(List.of(inLane(0, "x", DELAY), inLane(9, "y", Duration.ZERO), called("z", LEASE)));

        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics(QUEUE.queue().value(), 3, 1, 0, 0, at(0)));
    }

    @Test
    void showsTheSuccessorOnceTheLeaseRanOut() {
        this.dq.withSuccessor();
        this.dq.advance(LEASE);

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void findsNothingOnceTheLeaseOfACancelledMessageRanOut() {
        this.dq.cancelled();
        this.dq.advance(LEASE);

        assertThat(this.dq.find()).isEmpty();
    }

}
