package io.delayqueue.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.QueueName;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests which queues without a listener are tracked, and how many. */
class RemoteConsumerQueuesTests {

    private static final QueueName ONE = new QueueName("one");

    private static final QueueName TWO = new QueueName("two");

    private static final QueueName THREE = new QueueName("three");

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final AtomicLong now = new AtomicLong();

    private final RemoteConsumerQueues queues = new RemoteConsumerQueues(2, this.now::get);

    @Test
    void areRememberedForGoodAndToldOfOnce() {
        List<QueueName> early = new ArrayList<>();
        this.queues.onFirst(early::add);
        this.queues.note(ONE);
        this.now.addAndGet(Duration.ofDays(1).toNanos());
        this.queues.note(ONE);
        List<QueueName> late = new ArrayList<>();
        this.queues.onFirst(late::add);

        assertThat(this.queues.all()).containsExactly(ONE);
        assertThat(early).containsExactly(ONE);
        assertThat(late).containsExactly(ONE);
    }

    @Test
    void areConsumedAsLongAsSomebodyCameLately() {
        assertThat(this.queues.isConsumed(ONE, MINUTE)).isFalse();
        this.queues.note(ONE);
        this.now.addAndGet(MINUTE.toNanos());
        assertThat(this.queues.isConsumed(ONE, MINUTE)).isTrue();
        this.now.incrementAndGet();
        assertThat(this.queues.isConsumed(ONE, MINUTE)).isFalse();
        this.queues.note(ONE);
        assertThat(this.queues.isConsumed(ONE, MINUTE)).isTrue();
    }

    /**
     * Whoever consumes may make up names; each costs a call per partition and interval.
     */
    @Test
    void areNoMoreThanAllowed() {
        this.queues.note(ONE);
        this.queues.note(TWO);
        this.queues.note(THREE);
        this.queues.note(TWO);
        assertThat(this.queues.all()).containsExactlyInAnyOrder(ONE, TWO);
    }

}
