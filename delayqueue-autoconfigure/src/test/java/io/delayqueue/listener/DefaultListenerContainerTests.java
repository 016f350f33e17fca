package io.delayqueue.listener;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.delayqueue.QueueName;
import io.delayqueue.listener.poll.ClockJumpLog;
import io.delayqueue.listener.poll.HandlerExecution;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.listener.poll.TestBed;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.StoreComponents;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

/** Tests how a container follows the partitions of its queue. */
class DefaultListenerContainerTests {

    private static final Partition SECOND = new Partition(TestBed.QUEUE.queue(), 1);

    private final TestBed bed = new TestBed();

    private final DefaultListenerContainer container = new DefaultListenerContainer("l", List.of(this.bed.queue()));

    private final PartitionLayouts partitions = mock(PartitionLayouts.class);

    private final List<Partition> started = new ArrayList<>();

    private boolean failing;

    private boolean watching = true;

    private Consumer<PartitionLayout> watcher;

    private final WakeUps wakeUps = (partition, listener) -> {
        this.started.add(partition);
        if (this.failing) {
            throw new IllegalStateException("no");
        }
        return this.bed.store.listen(partition, listener);
    };

    private final ListenerRun run = new ListenerRun(
            new StoreComponents(this.bed.store, mock(MessageInspector.class), this.wakeUps, this.partitions),
            (event) -> {
            }, new ClockJumpLog(),
            new SharedListenerSettings(Duration.ZERO, Duration.ofDays(1), null, false, HandlerExecution.DEFAULT),
            NodeHeartbeat.none());

    private void attach(Runnable whileItStarts) {
        when(this.partitions.watch(any(), any())).thenAnswer((call) -> {
            this.watcher = call.getArgument(1);
            whileItStarts.run();
            return (Runnable) () -> this.watching = false;
        });
        this.container.attach(this.run);
    }

    private void learnTwoPartitions() {
        this.watcher.accept(PartitionLayout.ONE.next(2));
    }

    @AfterEach
    void stop() {
        this.container.stop();
        this.run.awaitEnd();
    }

    @Test
    void addsALoopForEachPartitionThatBecomesKnownOnce() {
        attach(() -> {
        });
        assertThat(this.started).containsExactly(TestBed.QUEUE);

        learnTwoPartitions();
        learnTwoPartitions();
        assertThat(this.started).containsExactly(TestBed.QUEUE, SECOND);
        assertThat(this.container.loops()).hasSize(2);
    }

    /** The thread of a connection would keep all its answers waiting. */
    @Test
    void addsLoopsWithoutWaitingForALifeCycleCallThatBlocks() throws Exception {
        attach(() -> {
        });
        CountDownLatch returned = new CountDownLatch(1);
        Thread connection = new Thread(() -> {
            learnTwoPartitions();
            returned.countDown();
        }, "connection");
        boolean waited;
        synchronized (this.container) {
            connection.start();
            waited = !returned.await(30, TimeUnit.SECONDS);
        }
        connection.join();
        assertThat(waited).isFalse();
        assertThat(this.started).containsExactly(TestBed.QUEUE, SECOND);
    }

    @Test
    void aLoopThatDoesNotStartIsStartedWhenItsPartitionIsReportedAgain() {
        attach(() -> {
        });
        this.failing = true;
        assertThatIllegalStateException().isThrownBy(this::learnTwoPartitions);
        assertThat(this.container.loops()).hasSize(1);
        this.failing = false;

        learnTwoPartitions();
        learnTwoPartitions();
        assertThat(this.started).containsExactly(TestBed.QUEUE, SECOND, SECOND);
    }

    /** A stop can take long: the iterations that release messages may call the store. */
    @Test
    void reportsItsStateWithoutWaitingForALifeCycleCallThatBlocks() throws Exception {
        attach(() -> {
        });
        CompletableFuture<List<Object>> state;
        synchronized (this.container) {
            state = CompletableFuture.supplyAsync(() -> List.of(this.container.isRunning(), this.container.isPaused(),
                    this.container.loops().size(), this.container.freeHandlers().keySet()));
            await().atMost(Duration.ofMinutes(1)).until(state::isDone);
        }
        assertThat(state.get()).containsExactly(true, false, 1, Set.of(TestBed.QUEUE.queue().value()));
    }

    @Test
    void startsNoFurtherQueueIfItStopsWhileItStarts() {
        Partition other = Partition.first(new QueueName("other"));
        DefaultListenerContainer both = new DefaultListenerContainer("both",
                List.of(this.bed.queue(), this.bed.queue().at(other)));
        when(this.partitions.watch(any(), any())).thenAnswer((call) -> {
            both.stop();
            return (Runnable) () -> {
            };
        });
        both.attach(this.run);

        assertThat(both.isRunning()).isFalse();
        assertThat(this.started).containsExactly(TestBed.QUEUE);
        verify(this.partitions, never()).watch(eq(other.queue()), any());
        assertThat(this.run.queues()).isEmpty();
    }

    @Test
    void watchesPartitionsNoMoreIfItStopsWhileItStarts() {
        attach(this.container::stop);
        assertThat(this.watching).isFalse();
    }

    /** P12: partitions may become known after the stop. */
    @Test
    void addsNoLoopAfterItsStop() {
        attach(() -> {
        });
        this.container.stop();
        assertThat(this.watching).isFalse();

        learnTwoPartitions();
        assertThat(this.started).containsExactly(TestBed.QUEUE);
    }

}
