package io.delayqueue.listener.poll;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.Lease;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests P3 (slow handlers withhold no messages from other nodes) and the limit on
 * messages that are handled again after a crash.
 */
class HandlerConcurrencyLimiterTests {

    private final TestBed bed = new TestBed();

    private final ManualNanoClock clock = this.bed.clock;

    private final PollLoopScheduler scheduler = this.bed.pollLoopScheduler();

    private final Deque<Runnable> threads = new ArrayDeque<>();

    private final HandlerConcurrencyLimiter limiter = new HandlerConcurrencyLimiter(2,
            TestBed.executor(this.threads::add), this.clock);

    private final List<String> begun = new ArrayList<>();

    private List<HandlerTask> leases(int count) {
        return IntStream.range(0, count)
            .mapToObj((i) -> new InFlightMessage(new ClaimedMessage(new Lease(TestBed.QUEUE, "m" + i, "1"),
                    Instant.EPOCH, 0, 0, false, null, null, new byte[0]),
                    new InFlightMessage.Times(0, 0, Instant.EPOCH), TestBed.LEASE)
                .task())
            .toList();
    }

    private static String id(HandlerTask task) {
        return task.messages().get(0).lease().id();
    }

    private void runThreads() {
        while (!this.threads.isEmpty()) {
            this.threads.poll().run();
        }
    }

    @Test
    void hasAPermitForEachHandler() {
        assertThat(this.limiter.reserve(100, this.scheduler)).isEqualTo(2);
        assertThat(this.limiter.reserve(100, this.scheduler)).isZero();
        this.limiter.release(1);
        assertThat(this.limiter.reserve(100, this.scheduler)).isOne();
    }

    /** Handlers that run are not interrupted; their permits are taken as they return. */
    @Test
    void takesThePermitsOfAReducedConcurrencyAsTheyReturn() {
        assertThat(this.limiter.reserve(2, this.scheduler)).isEqualTo(2);
        List<HandlerTask> running = new ArrayList<>();
        this.limiter.add(leases(2), running::add);
        runThreads();
        assertThat(running).hasSize(2);

        this.limiter.setConcurrency(1);
        assertThat(this.limiter.idle()).isZero();
        this.limiter.finished(running.get(0));
        assertThat(this.limiter.idle()).as("one of two has returned").isZero();
        assertThat(this.limiter.reserve(100, this.scheduler)).isZero();

        this.limiter.finished(running.get(1));
        assertThat(this.limiter.idle()).isOne();
        assertThat(this.limiter.reserve(100, this.scheduler)).isOne();
    }

    @Test
    void usesAnIncreasedConcurrencyForMessagesThatWait() {
        List<HandlerTask> running = new ArrayList<>();
        this.limiter.reserve(2, this.scheduler);
        this.limiter.add(leases(4), running::add);
        runThreads();
        assertThat(running).hasSize(2);

        this.limiter.setConcurrency(4);
        this.limiter.startNext(); // as an iteration does
        runThreads();
        assertThat(running).hasSize(4);
    }

    /** Several changes while handlers run, in both directions. */
    @Test
    void neitherLosesNorGainsPermitsByChanges() {
        List<HandlerTask> running = new ArrayList<>();
        this.limiter.reserve(2, this.scheduler);
        this.limiter.add(leases(2), running::add);
        runThreads();
        for (int concurrency : new int[] { 1, 5, 1, 3 }) {
            this.limiter.setConcurrency(concurrency);
        }
        running.forEach(this.limiter::finished);

        assertThat(this.limiter.idle()).isEqualTo(3);
        assertThat(this.limiter.reserve(3, this.scheduler)).isEqualTo(3);
    }

    @Test
    void aLoopThatGotNoPermitIsWokenAndFindsOneReserved() {
        PollLoopScheduler busy = this.bed.pollLoopScheduler();
        AtomicInteger iterations = new AtomicInteger();
        PollLoopScheduler waiting = this.bed.scheduler(iterations);
        this.limiter.register();
        this.limiter.register();
        assertThat(this.limiter.reserve(100, busy)).isEqualTo(2);
        assertThat(this.limiter.reserve(100, waiting)).isZero();

        this.limiter.release(1);

        assertThat(iterations).hasPositiveValue();
        assertThat(this.limiter.reserve(100, busy)).as("its place is not taken").isZero();
        assertThat(this.limiter.reserve(100, waiting)).isOne();
    }

    @Test
    void aLoopDoesNotTakeAllPermitsWhileOthersWait() {
        PollLoopScheduler first = this.bed.pollLoopScheduler();
        PollLoopScheduler second = this.bed.pollLoopScheduler();
        this.limiter.register();
        this.limiter.register();
        assertThat(this.limiter.reserve(100, this.scheduler)).isEqualTo(2);
        assertThat(this.limiter.reserve(100, first)).isZero();
        assertThat(this.limiter.reserve(100, second)).isZero();

        this.limiter.release(2);

        assertThat(this.limiter.reserve(100, first)).isOne();
        assertThat(this.limiter.reserve(100, second)).isOne();
    }

    @Test
    void aLoopThatStopsWaitingKeepsNoReservation() {
        PollLoopScheduler left = this.bed.pollLoopScheduler();
        AtomicInteger iterations = new AtomicInteger();
        PollLoopScheduler next = this.bed.scheduler(iterations);
        this.limiter.register();
        this.limiter.register();
        assertThat(this.limiter.reserve(100, this.scheduler)).isEqualTo(2);
        assertThat(this.limiter.reserve(100, left)).isZero();
        assertThat(this.limiter.reserve(100, next)).isZero();
        this.limiter.release(1);
        iterations.set(0);

        this.limiter.leave(left);

        assertThat(iterations).hasPositiveValue();
        assertThat(this.limiter.reserve(100, next)).isOne();
    }

    @Test
    void startsNoMoreMessagesAtATimeThanHandlers() {
        List<HandlerTask> leases = leases(5);
        this.limiter.add(leases, (lease) -> this.begun.add(id(lease)));
        runThreads();
        assertThat(this.begun).containsExactly("m0", "m1");

        this.limiter.finished(leases.get(0));
        runThreads();
        assertThat(this.begun).containsExactly("m0", "m1", "m2");
    }

    @Test
    void prefetchesAsMuchAsIsHandledInAFewMilliseconds() {
        this.limiter.reserve(2, this.scheduler);
        this.clock.advance(Duration.ofMillis(10));
        finish(20);
        assertThat(this.limiter.reserve(100, this.scheduler)).isEqualTo(20 + 10);
    }

    private void finish(int count) {
        this.limiter.add(leases(count), this.limiter::finished);
        runThreads();
    }

    @Test
    void prefetchesNoMoreThanThreeBatches() {
        this.clock.advance(Duration.ofMillis(10));
        finish(1000);
        assertThat(this.limiter.reserve(10_000, this.scheduler)).isEqualTo(1000 + 2 + 300);
    }

    @Test
    void prefetchesNothingForSlowHandlers() {
        finish(20);
        this.limiter.release(-20);
        this.clock.advance(Duration.ofSeconds(1));
        assertThat(this.limiter.reserve(100, this.scheduler)).isEqualTo(2);
    }

    @Test
    void prefetchesNothingForSlowHandlersThatEndTogether() {
        HandlerConcurrencyLimiter slow = new HandlerConcurrencyLimiter(10, TestBed.executor(this.threads::add),
                this.clock);
        assertThat(slow.reserve(100, this.scheduler)).isEqualTo(10);
        List<HandlerTask> leases = leases(10);
        slow.add(leases, (lease) -> {
        });
        runThreads();
        this.clock.advance(Duration.ofMinutes(1));
        slow.finished(leases.get(0));
        assertThat(slow.reserve(100, this.scheduler)).isOne();
        this.clock.advance(Duration.ofMillis(2));
        leases.subList(1, 10).forEach(slow::finished);

        assertThat(slow.reserve(100, this.scheduler)).isEqualTo(9);
    }

    @Test
    void detectsWithoutAClaimThatHandlersHaveBecomeSlow() {
        this.clock.advance(Duration.ofMillis(10));
        finish(20);
        assertThat(this.limiter.reserve(100, this.scheduler)).isEqualTo(20 + 2 + 10);
        this.limiter.add(leases(12), (lease) -> {
        });
        assertThat(this.limiter.hasCapacity()).isFalse();
        this.limiter.release(11);
        this.clock.advance(Duration.ofSeconds(1));

        assertThat(this.limiter.hasCapacity()).isTrue();
    }

    @Test
    void releasedMessagesDoNotWait() {
        List<HandlerTask> leases = leases(5);
        this.limiter.add(leases, (lease) -> this.begun.add(id(lease)));
        runThreads();
        leases.subList(2, 4).forEach(HandlerTask::tryRelease);

        this.limiter.removeReleased();

        assertThat(this.limiter.hasWaiting()).isTrue();
        this.limiter.finished(leases.get(0));
        runThreads();
        assertThat(this.begun).containsExactly("m0", "m1", "m4");
        assertThat(this.limiter.hasWaiting()).isFalse();
    }

    @Test
    void needsMoreOnlyWhenFewMessagesWait() {
        this.clock.advance(Duration.ofMillis(10));
        finish(20);
        this.limiter.reserve(100, this.scheduler);
        this.limiter.add(leases(6), (lease) -> {
        });
        assertThat(this.limiter.needsMore()).isFalse();
        this.threads.poll().run();
        assertThat(this.limiter.needsMore()).isTrue();
    }

    @Test
    void isStalledWhenWaitingMessagesDoNotMove() {
        List<HandlerTask> leases = leases(3);
        this.limiter.add(leases, (lease) -> {
        });
        runThreads();
        assertThat(this.limiter.isStalled()).isFalse();
        assertThat(this.limiter.untilStalled()).isEqualTo(HandlerConcurrencyLimiter.STALL);
        this.clock.advance(HandlerConcurrencyLimiter.STALL);
        assertThat(this.limiter.isStalled()).isTrue();

        this.limiter.finished(leases.get(0));
        runThreads();
        assertThat(this.limiter.isStalled()).isFalse();
    }

    @Test
    void throwsWithoutAThreadAndRetriesAtTheNextMessage() {
        boolean[] rejecting = { true };
        HandlerConcurrencyLimiter rejected = new HandlerConcurrencyLimiter(2, TestBed.executor((task) -> {
            if (rejecting[0]) {
                throw new RejectedExecutionException("no threads left");
            }
            task.run();
        }), this.clock);
        assertThatExceptionOfType(RejectedExecutionException.class)
            .isThrownBy(() -> rejected.add(leases(1), (lease) -> this.begun.add(id(lease))));
        rejecting[0] = false;
        rejected.add(leases(1), (lease) -> this.begun.add(id(lease)));
        assertThat(this.begun).hasSize(2);
    }

    @Test
    void aStartThatTheExecutorDroppedIsRepeatedOnceMessagesAreStalled() {
        this.limiter.add(leases(1), (lease) -> this.begun.add(id(lease)));
        this.threads.clear();
        this.limiter.forgetDroppedStart();
        this.limiter.startNext();
        assertThat(this.threads).as("before it counts as dropped").isEmpty();

        this.clock.advance(HandlerConcurrencyLimiter.STALL);
        this.limiter.forgetDroppedStart();
        this.limiter.startNext();

        assertThat(this.threads).hasSize(1);
        runThreads();
        assertThat(this.begun).containsExactly("m0");
    }

    /** Otherwise a busy executor would fill with such tasks. */
    @Test
    void startsThatAreNotRunAreRepeatedLessAndLessOften() {
        this.limiter.add(leases(1), (lease) -> this.begun.add(id(lease)));
        for (int i = 0; i < 3600; i++) {
            this.clock.advance(HandlerConcurrencyLimiter.STALL);
            this.limiter.forgetDroppedStart();
            this.limiter.startNext();
        }
        assertThat(this.threads).hasSizeBetween(3600 / 30, 3600 / 30 + 6);

        runThreads();
        assertThat(this.begun).containsExactly("m0");
        this.limiter.add(leases(1), this.limiter::finished);
        this.threads.clear();
        this.clock.advance(HandlerConcurrencyLimiter.STALL);
        this.limiter.forgetDroppedStart();
        this.limiter.startNext();
        assertThat(this.threads).as("soon again after one was run").hasSize(1);
    }

    /** Other tasks of the application also wait for those threads. */
    @Test
    void eachMessageIsATaskOfItsOwnOnThreadsOfTheApplication() {
        HandlerConcurrencyLimiter shared = new HandlerConcurrencyLimiter(1,
                new HandlerExecutor(this.threads::add, true, null, Runnable::run, Runnable::run), this.clock);
        shared.add(leases(3), (lease) -> {
            this.begun.add(id(lease));
            shared.finished(lease);
        });

        for (int i = 1; i <= 3; i++) {
            assertThat(this.threads).hasSize(1);
            this.threads.poll().run();
            assertThat(this.begun).hasSize(i);
        }
        assertThat(this.threads).isEmpty();
    }

    @Test
    void dispatchesEachMessageOnceWithManyThreads() throws Exception {
        int count = 20_000;
        ExecutorService pool = Executors.newCachedThreadPool();
        try {
            HandlerConcurrencyLimiter shared = new HandlerConcurrencyLimiter(4, TestBed.executor(pool::execute),
                    System::nanoTime);
            AtomicInteger running = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            CountDownLatch handled = new CountDownLatch(count);
            for (int i = 0; i < count; i += 10) {
                shared.add(leases(10), (lease) -> {
                    most.accumulateAndGet(running.incrementAndGet(), Math::max);
                    running.decrementAndGet();
                    handled.countDown();
                    shared.finished(lease);
                });
            }
            assertThat(handled.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(most.get()).isBetween(1, 4);
        }
        finally {
            pool.shutdown();
        }
    }

}
