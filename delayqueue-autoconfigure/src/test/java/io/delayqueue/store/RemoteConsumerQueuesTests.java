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
    void areRememberedAndLoggedOnce() {
        List<QueueName> early = new ArrayList<>();
        this.queues.onFirst(early::add);
        this.queues.record(ONE);
        this.now.addAndGet(Duration.ofDays(1).toNanos());
        this.queues.record(ONE);
        List<QueueName> late = new ArrayList<>();
        this.queues.onFirst(late::add);

        assertThat(this.queues.all()).containsExactly(ONE);
        assertThat(early).containsExactly(ONE);
        assertThat(late).containsExactly(ONE);
    }

    @Test
    void areConsumedForAWhileAfterTheLastRequest() {
        assertThat(this.queues.isConsumed(ONE, MINUTE)).isFalse();
        this.queues.record(ONE);
        this.now.addAndGet(MINUTE.toNanos());
        assertThat(this.queues.isConsumed(ONE, MINUTE)).isTrue();
        this.now.incrementAndGet();
        assertThat(this.queues.isConsumed(ONE, MINUTE)).isFalse();
        this.queues.record(ONE);
        assertThat(this.queues.isConsumed(ONE, MINUTE)).isTrue();
    }

    /**
     * Consumers may invent names; each costs a call per partition and interval.
     */
    @Test
    void areNoMoreThanAllowed() {
        this.queues.record(ONE);
        this.queues.record(TWO);
        this.queues.record(THREE);
        this.queues.record(TWO);
        assertThat(this.queues.all()).containsExactlyInAnyOrder(ONE, TWO);
    }

}
