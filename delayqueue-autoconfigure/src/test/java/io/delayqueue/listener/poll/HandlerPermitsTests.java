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

import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.Lease;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests P3 (slow handlers withhold no messages from other nodes) and the limit on
 * messages that are handled again after a crash.
 */
class HandlerPermitsTests {

    private final TestBed bed = new TestBed();

    private final TestClock clock = this.bed.clock;

    private final Alarm alarm = this.bed.alarm();

    private final Deque<Runnable> threads = new ArrayDeque<>();

    private final HandlerPermits handlers = new HandlerPermits(2, this.threads::add, this.clock);

    private final List<String> begun = new ArrayList<>();

    private List<InFlightMessage> leases(int count) {
        return IntStream.range(0, count)
            .mapToObj((i) -> new InFlightMessage(new ClaimedMessage(new Lease(TestBed.QUEUE, "m" + i, "1"),
                    Instant.EPOCH, 0, 0, false, null, null, new byte[0]),
                    new InFlightMessage.Times(0, 0, Instant.EPOCH), TestBed.LEASE))
            .toList();
    }

    private void runThreads() {
        while (!this.threads.isEmpty()) {
            this.threads.poll().run();
        }
    }

    @Test
    void hasRoomForAsManyAsHandlers() {
        assertThat(this.handlers.reserve(100, this.alarm)).isEqualTo(2);
        assertThat(this.handlers.reserve(100, this.alarm)).isZero();
        this.handlers.giveBack(1);
        assertThat(this.handlers.reserve(100, this.alarm)).isOne();
    }

    @Test
    void aLoopThatFoundNoRoomIsRungAndFindsAPlaceLeftToIt() {
        Alarm busy = this.bed.alarm();
        AtomicInteger turns = new AtomicInteger();
        Alarm waiting = this.bed.alarm(turns);
        this.handlers.join();
        this.handlers.join();
        assertThat(this.handlers.reserve(100, busy)).isEqualTo(2);
        assertThat(this.handlers.reserve(100, waiting)).isZero();

        this.handlers.giveBack(1);

        assertThat(turns).hasPositiveValue();
        assertThat(this.handlers.reserve(100, busy)).as("its place is not taken").isZero();
        assertThat(this.handlers.reserve(100, waiting)).isOne();
    }

    @Test
    void aLoopTakesNotAllWhileOthersWait() {
        Alarm first = this.bed.alarm();
        Alarm second = this.bed.alarm();
        this.handlers.join();
        this.handlers.join();
        assertThat(this.handlers.reserve(100, this.alarm)).isEqualTo(2);
        assertThat(this.handlers.reserve(100, first)).isZero();
        assertThat(this.handlers.reserve(100, second)).isZero();

        this.handlers.giveBack(2);

        assertThat(this.handlers.reserve(100, first)).isOne();
        assertThat(this.handlers.reserve(100, second)).isOne();
    }

    @Test
    void aLoopThatLeavesTheLineKeepsNoPlace() {
        Alarm left = this.bed.alarm();
        AtomicInteger turns = new AtomicInteger();
        Alarm next = this.bed.alarm(turns);
        this.handlers.join();
        this.handlers.join();
        assertThat(this.handlers.reserve(100, this.alarm)).isEqualTo(2);
        assertThat(this.handlers.reserve(100, left)).isZero();
        assertThat(this.handlers.reserve(100, next)).isZero();
        this.handlers.giveBack(1);
        turns.set(0);

        this.handlers.leave(left);

        assertThat(turns).hasPositiveValue();
        assertThat(this.handlers.reserve(100, next)).isOne();
    }

    @Test
    void beginsNoMoreAtATimeThanHandlers() {
        List<InFlightMessage> leases = leases(5);
        this.handlers.add(leases, (lease) -> this.begun.add(lease.lease().id()));
        runThreads();
        assertThat(this.begun).containsExactly("m0", "m1");

        this.handlers.finished(leases.get(0));
        runThreads();
        assertThat(this.begun).containsExactly("m0", "m1", "m2");
    }

    @Test
    void claimsAheadWhatIsHandledInAFewMilliseconds() {
        this.handlers.reserve(2, this.alarm);
        this.clock.advance(Duration.ofMillis(10));
        finish(20);
        assertThat(this.handlers.reserve(100, this.alarm)).isEqualTo(20 + 10);
    }

    private void finish(int count) {
        this.handlers.add(leases(count), this.handlers::finished);
        runThreads();
    }

    @Test
    void claimsAheadNoMoreThanTwoBatches() {
        this.clock.advance(Duration.ofMillis(10));
        finish(1000);
        assertThat(this.handlers.reserve(10_000, this.alarm)).isEqualTo(1000 + 2 + 200);
    }

    @Test
    void claimsNothingAheadForSlowHandlers() {
        finish(20);
        this.handlers.giveBack(-20);
        this.clock.advance(Duration.ofSeconds(1));
        assertThat(this.handlers.reserve(100, this.alarm)).isEqualTo(2);
    }

    @Test
    void claimsNothingAheadForSlowHandlersThatEndTogether() {
        HandlerPermits slow = new HandlerPermits(10, this.threads::add, this.clock);
        assertThat(slow.reserve(100, this.alarm)).isEqualTo(10);
        List<InFlightMessage> leases = leases(10);
        slow.add(leases, (lease) -> {
        });
        runThreads();
        this.clock.advance(Duration.ofMinutes(1));
        slow.finished(leases.get(0));
        assertThat(slow.reserve(100, this.alarm)).isOne();
        this.clock.advance(Duration.ofMillis(2));
        leases.subList(1, 10).forEach(slow::finished);

        assertThat(slow.reserve(100, this.alarm)).isEqualTo(9);
    }

    @Test
    void noticesWithoutAClaimThatHandlersHaveBecomeSlow() {
        this.clock.advance(Duration.ofMillis(10));
        finish(20);
        assertThat(this.handlers.reserve(100, this.alarm)).isEqualTo(20 + 2 + 10);
        this.handlers.add(leases(12), (lease) -> {
        });
        assertThat(this.handlers.hasRoom()).isFalse();
        this.handlers.giveBack(11);
        this.clock.advance(Duration.ofSeconds(1));

        assertThat(this.handlers.hasRoom()).isTrue();
    }

    @Test
    void whatIsGivenBackDoesNotWait() {
        List<InFlightMessage> leases = leases(5);
        this.handlers.add(leases, (lease) -> this.begun.add(lease.lease().id()));
        runThreads();
        leases.subList(2, 4).forEach(InFlightMessage::giveBack);

        this.handlers.forgetGivenBack();

        assertThat(this.handlers.hasWaiting()).isTrue();
        this.handlers.finished(leases.get(0));
        runThreads();
        assertThat(this.begun).containsExactly("m0", "m1", "m4");
        assertThat(this.handlers.hasWaiting()).isFalse();
    }

    @Test
    void asksForMoreOnlyWhenLittleWaits() {
        this.clock.advance(Duration.ofMillis(10));
        finish(20);
        this.handlers.reserve(100, this.alarm);
        this.handlers.add(leases(6), (lease) -> {
        });
        assertThat(this.handlers.wantsMore()).isFalse();
        this.threads.poll().run();
        assertThat(this.handlers.wantsMore()).isTrue();
    }

    @Test
    void isStalledWhenWhatWaitsDoesNotMove() {
        List<InFlightMessage> leases = leases(3);
        this.handlers.add(leases, (lease) -> {
        });
        runThreads();
        assertThat(this.handlers.isStalled()).isFalse();
        assertThat(this.handlers.untilStalled()).isEqualTo(HandlerPermits.STALL);
        this.clock.advance(HandlerPermits.STALL);
        assertThat(this.handlers.isStalled()).isTrue();

        this.handlers.finished(leases.get(0));
        runThreads();
        assertThat(this.handlers.isStalled()).isFalse();
    }

    @Test
    void tellsWhenThereIsNoThreadAndTriesAgainAtTheNextMessage() {
        boolean[] rejecting = { true };
        HandlerPermits rejected = new HandlerPermits(2, (task) -> {
            if (rejecting[0]) {
                throw new RejectedExecutionException("no threads left");
            }
            task.run();
        }, this.clock);
        assertThatExceptionOfType(RejectedExecutionException.class)
            .isThrownBy(() -> rejected.add(leases(1), (lease) -> this.begun.add(lease.lease().id())));
        rejecting[0] = false;
        rejected.add(leases(1), (lease) -> this.begun.add(lease.lease().id()));
        assertThat(this.begun).hasSize(2);
    }

    @Test
    void aStartThatTheExecutorDroppedIsRepeatedOnceMessagesAreStalled() {
        this.handlers.add(leases(1), (lease) -> this.begun.add(lease.lease().id()));
        this.threads.clear();
        this.handlers.forgetDroppedStart();
        this.handlers.goOn();
        assertThat(this.threads).as("before it counts as dropped").isEmpty();

        this.clock.advance(HandlerPermits.STALL);
        this.handlers.forgetDroppedStart();
        this.handlers.goOn();

        assertThat(this.threads).hasSize(1);
        runThreads();
        assertThat(this.begun).containsExactly("m0");
    }

    /** Otherwise a busy executor would fill with such tasks. */
    @Test
    void startsThatAreNotRunAreRepeatedLessAndLessOften() {
        this.handlers.add(leases(1), (lease) -> this.begun.add(lease.lease().id()));
        for (int i = 0; i < 3600; i++) {
            this.clock.advance(HandlerPermits.STALL);
            this.handlers.forgetDroppedStart();
            this.handlers.goOn();
        }
        assertThat(this.threads).hasSizeBetween(3600 / 30, 3600 / 30 + 6);

        runThreads();
        assertThat(this.begun).containsExactly("m0");
        this.handlers.add(leases(1), this.handlers::finished);
        this.threads.clear();
        this.clock.advance(HandlerPermits.STALL);
        this.handlers.forgetDroppedStart();
        this.handlers.goOn();
        assertThat(this.threads).as("soon again after one was run").hasSize(1);
    }

    /** Other tasks of the application also wait for those threads. */
    @Test
    void eachMessageIsATaskOfItsOwnOnThreadsOfTheApplication() {
        HandlerPermits shared = new HandlerPermits(1, new HandlerExecutor() {

            @Override
            public void execute(Runnable task) {
                HandlerPermitsTests.this.threads.add(task);
            }

            @Override
            public boolean areShared() {
                return true;
            }

        }, this.clock);
        shared.add(leases(3), (lease) -> {
            this.begun.add(lease.lease().id());
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
    void handsOutEachMessageOnceWithManyThreads() throws Exception {
        int count = 20_000;
        ExecutorService pool = Executors.newCachedThreadPool();
        try {
            HandlerPermits shared = new HandlerPermits(4, pool::execute, System::nanoTime);
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
