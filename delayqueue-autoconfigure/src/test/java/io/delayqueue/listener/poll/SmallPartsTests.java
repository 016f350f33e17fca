package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import ch.qos.logback.classic.Level;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Partition;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Tests settings, waits, logs and threads that the other classes use. */
class SmallPartsTests {

    @Nested
    class OfRetryPolicies {

        private final RetryPolicy policy = new RetryPolicy(Duration.ofSeconds(1), 2, Duration.ofSeconds(10), 0);

        @Test
        void waitsLongerAfterEachFailureUpToALimit() {
            assertThat(List.of(1, 2, 3, 4, 5, 1000, Integer.MAX_VALUE))
                .extracting((failures) -> this.policy.delayAfter(failures, () -> 0.5).toSeconds())
                .containsExactly(1L, 2L, 4L, 8L, 10L, 10L, 10L);
        }

        @Test
        void addsAShareByChance() {
            RetryPolicy jittered = new RetryPolicy(Duration.ofSeconds(10), 1, Duration.ofSeconds(10), 0.3);
            assertThat(jittered.delayAfter(1, () -> 0)).isEqualTo(Duration.ofSeconds(7));
            assertThat(jittered.delayAfter(1, () -> 0.5)).isEqualTo(Duration.ofSeconds(10));
            assertThat(jittered.delayAfter(1, () -> 1)).isEqualTo(Duration.ofSeconds(13));
        }

        @Test
        void staysWithinWhatAStoreTakes() {
            RetryPolicy longest = new RetryPolicy(Duration.ofDays(36_500), Double.MAX_VALUE, Duration.ofDays(36_500),
                    1);
            assertThat(longest.delayAfter(Integer.MAX_VALUE, () -> 1)).isEqualTo(Duration.ofDays(36_500));
            assertThat(longest.delayAfter(Integer.MAX_VALUE, () -> 0)).isZero();
            RetryPolicy none = new RetryPolicy(Duration.ZERO, Double.MAX_VALUE, Duration.ZERO, 1);
            assertThat(none.delayAfter(1000, () -> 1)).isZero();
        }

        @Test
        void refusesWhatMakesNoSense() {
            assertThatIllegalArgumentException()
                .isThrownBy(() -> new RetryPolicy(Duration.ofSeconds(-1), 1, Duration.ZERO, 0))
                .withMessage("backoff.initial must be zero to 36500 days, but was -1 s");
            assertThatIllegalArgumentException()
                .isThrownBy(() -> new RetryPolicy(Duration.ofSeconds(1), 0.5, Duration.ofSeconds(1), 0))
                .withMessage("backoff.multiplier must be at least 1, but was 0.5");
            assertThatIllegalArgumentException()
                .isThrownBy(() -> new RetryPolicy(Duration.ofSeconds(2), 1, Duration.ofSeconds(1), 0))
                .withMessageStartingWith("backoff.max must be at least backoff.initial (2 s)");
            assertThatIllegalArgumentException()
                .isThrownBy(() -> new RetryPolicy(Duration.ofSeconds(1), 1, Duration.ofSeconds(1), Double.NaN))
                .withMessage("backoff.jitter must be 0 to 1, but was NaN");
        }

    }

    @Nested
    class OfSettings {

        private ListenerSettings settings(int concurrency, Duration lease, Duration timeout, int attempts, int lapses) {
            return new ListenerSettings(concurrency, lease, timeout, attempts, lapses, TestBed.settings().retryPolicy(),
                    ExpiryPolicy.DROP, true, Set.of());
        }

        @Test
        void refusesWhatMakesNoSense() {
            Duration minute = Duration.ofMinutes(1);
            assertThatIllegalArgumentException().isThrownBy(() -> settings(0, minute, null, 1, 1))
                .withMessage("concurrency must be 1 to 10000, but was 0");
            assertThatIllegalArgumentException().isThrownBy(() -> settings(10_001, minute, null, 1, 1))
                .withMessage("concurrency must be 1 to 10000, but was 10001");
            assertThatIllegalArgumentException().isThrownBy(() -> settings(1, Duration.ofMillis(999), null, 1, 1))
                .withMessage("lease must be at least 1s and at most 36500 days, but was 999 ms");
            assertThatIllegalArgumentException().isThrownBy(() -> settings(1, minute, Duration.ZERO, 1, 1))
                .withMessage("timeout must be more than zero and at most 36500 days, but was 0 s");
            assertThatIllegalArgumentException().isThrownBy(() -> settings(1, minute, null, 0, 1))
                .withMessage("maxAttempts must be at least 1, but was 0");
            assertThatIllegalArgumentException().isThrownBy(() -> settings(1, minute, null, 1, 0))
                .withMessage("maxLapses must be at least 1, but was 0");
        }

        @Test
        void refusesASafetyPollThatWouldSpin() {
            assertThatIllegalArgumentException()
                .isThrownBy(() -> new ListenerRuntimeSettings(Duration.ZERO, Duration.ofMillis(1), null, false))
                .withMessageStartingWith("safetyPoll must be at least 10ms");
            assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> new ListenerRuntimeSettings(Duration.ofSeconds(-1), Duration.ofSeconds(5), null, false))
                .withMessageStartingWith("shutdownTimeout must be zero to");
        }

    }

    @Nested
    class OfOutages {

        private final TestClock clock = new TestClock();

        private final StoreOutageLog outage = new StoreOutageLog(this.clock);

        @Test
        void isOverWhenEverythingWorksAgain() {
            try (LogCapture log = new LogCapture()) {
                this.outage.failed(StoreOutageLog.CLAIM, TestBed.QUEUE, new IllegalStateException());
                this.outage.failed(StoreOutageLog.RENEW, TestBed.QUEUE, new IllegalStateException());
                this.outage.recovered(StoreOutageLog.CLAIM, TestBed.QUEUE);
                assertThat(log.lines(Level.INFO)).isEmpty();
                this.outage.recovered(StoreOutageLog.RENEW, TestBed.QUEUE);
                assertThat(log.lines(Level.INFO)).hasSize(1);
                assertThat(log.at(Level.WARN).toList()).hasSize(1)
                    .allMatch((event) -> event.getThrowableProxy() != null);

                this.outage.failed(StoreOutageLog.CLAIM, TestBed.QUEUE, new IllegalStateException());
                assertThat(log.lines(Level.WARN)).hasSize(2);
            }
        }

        @Test
        void isNotOverWhileAnotherPartitionFails() {
            try (LogCapture log = new LogCapture()) {
                Partition other = new Partition(TestBed.QUEUE.queue(), 1);
                this.outage.failed(StoreOutageLog.CLAIM, TestBed.QUEUE, new IllegalStateException());
                this.outage.failed(StoreOutageLog.CLAIM, other, new IllegalStateException());
                this.outage.recovered(StoreOutageLog.CLAIM, other);
                assertThat(log.lines(Level.INFO)).isEmpty();
                assertThat(log.lines(Level.WARN)).hasSize(1).first().asString().contains("queue 'orders'");
            }
        }

        @Test
        void doesNotRepeatItselfForAnOperationThatNeverWorksBesideOneThatDoes() {
            try (LogCapture log = new LogCapture()) {
                for (int i = 0; i < 10; i++) {
                    this.outage.failed(StoreOutageLog.ACKNOWLEDGE, TestBed.QUEUE, new IllegalStateException());
                    this.outage.recovered(StoreOutageLog.CLAIM, TestBed.QUEUE);
                }
                assertThat(log.lines(Level.WARN)).hasSize(1);
                assertThat(log.lines(Level.INFO)).isEmpty();
            }
        }

    }

    @Nested
    class OfThreads {

        @Test
        void inheritNothingFromWhoeverHadThemMade() throws Exception {
            HandlerThreads threads = new HandlerThreads(false, false);
            InheritableThreadLocal<String> user = new InheritableThreadLocal<>();
            CompletableFuture<ClassLoader> loader = new CompletableFuture<>();
            CompletableFuture<String> inherited = new CompletableFuture<>();
            Thread foreign = new Thread(() -> {
                user.set("somebody");
                threads.execute(() -> {
                    loader.complete(Thread.currentThread().getContextClassLoader());
                    inherited.complete(String.valueOf(user.get()));
                });
            });
            foreign.setContextClassLoader(ClassLoader.getPlatformClassLoader());
            foreign.start();
            foreign.join();
            assertThat(loader.get()).isEqualTo(getClass().getClassLoader());
            assertThat(inherited.get()).isEqualTo("null");
            threads.close();
        }

        @Test
        void takeTurnsOnThreadsOfTheirOwnWhereCallsWait() throws Exception {
            HandlerThreads threads = new HandlerThreads(false, true);
            CompletableFuture<String> name = new CompletableFuture<>();
            threads.turn(() -> name.complete(Thread.currentThread().getName()));
            assertThat(name.get(30, TimeUnit.SECONDS)).startsWith("delayqueue-loop-");
            threads.close();

            Thread[] here = new Thread[1];
            new HandlerThreads(false, false).turn(() -> here[0] = Thread.currentThread());
            assertThat(here[0]).isEqualTo(Thread.currentThread());
        }

        @Test
        void areNamedAndDoNotKeepTheJvmUp() throws Exception {
            HandlerThreads threads = new HandlerThreads(false, false);
            CompletableFuture<Thread> thread = new CompletableFuture<>();
            threads.execute(() -> thread.complete(Thread.currentThread()));

            assertThat(thread.get(30, TimeUnit.SECONDS).getName()).startsWith("delayqueue-handler-");
            assertThat(thread.get().isDaemon()).isTrue();
            threads.close();
        }

        @Test
        void haveNoBoundOfTheirOwn() throws Exception {
            HandlerThreads threads = new HandlerThreads(false, false);
            CountDownLatch all = new CountDownLatch(50);
            for (int i = 0; i < 50; i++) {
                threads.execute(() -> {
                    all.countDown();
                    try {
                        all.await(30, TimeUnit.SECONDS);
                    }
                    catch (InterruptedException ex) {
                        Thread.currentThread().interrupt();
                    }
                });
            }
            assertThat(all.await(30, TimeUnit.SECONDS)).isTrue();
            threads.close();
        }

        @Test
        @EnabledForJreRange(max = JRE.JAVA_20)
        void refuseToBeVirtualWhereThatIsUnknown() {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> new HandlerThreads(true, false));
        }

        @Test
        @EnabledForJreRange(min = JRE.JAVA_21)
        void areVirtualIfAsked() throws Exception {
            CompletableFuture<String> thread = new CompletableFuture<>();
            new HandlerThreads(true, false).execute(() -> thread.complete(Thread.currentThread().toString()));
            assertThat(thread.get(30, TimeUnit.SECONDS)).startsWith("VirtualThread").contains("delayqueue-handler-");
        }

    }

    @Nested
    class OfHousekeeping {

        @Test
        void removesOldDeadLettersInBatchesUntilNoneIsLeftAndComesAgain() {
            TestBed bed = new TestBed();
            ListenerRuntime context = new ListenerRuntime(bed.store, (event) -> {
            }, Runnable::run, bed.timer, bed.context.outage(), bed.context.clocks(), TestBed.PARTITIONS, null,
                    new ListenerRuntimeSettings(Duration.ZERO, Duration.ofSeconds(5), Duration.ofDays(7), false),
                    bed.clock);
            bed.store.purged.addAll(List.of(100, 100, 3));
            DeadLetterCleaner housekeeping = new DeadLetterCleaner(context);
            housekeeping.add(TestBed.QUEUE.queue());
            housekeeping.add(TestBed.QUEUE.queue());
            bed.timer.advance(Duration.ofSeconds(40));
            assertThat(bed.store.calls).isEmpty();

            bed.timer.advance(Duration.ofSeconds(40));
            assertThat(bed.store.calls).hasSize(3).containsOnly("purgeOlderThan orders PT168H");
            bed.store.fail("purgeOlderThan");
            bed.timer.advance(Duration.ofMinutes(75));
            assertThat(bed.store.calls).hasSize(4);
            bed.timer.advance(Duration.ofMinutes(75));
            assertThat(bed.store.calls.size()).isGreaterThan(4);
        }

        @Test
        void keepsThemForEverUnlessTold() {
            TestBed bed = new TestBed();
            new DeadLetterCleaner(bed.context).add(TestBed.QUEUE.queue());
            assertThat(bed.timer.isEmpty()).isTrue();
        }

    }

    @Nested
    class OfTimers {

        @Test
        void goOnAfterATaskThatThrows() throws Exception {
            TimerThread timer = new TimerThread();
            CountDownLatch runs = new CountDownLatch(3);
            timer.every(Duration.ofMillis(1), () -> {
                runs.countDown();
                throw new IllegalStateException("boom");
            });
            assertThat(runs.await(30, TimeUnit.SECONDS)).isTrue();
            timer.close();
            timer.after(Duration.ZERO, runs::countDown).cancel();
        }

        @Test
        void doNotRunWhatIsCancelled() throws Exception {
            TimerThread timer = new TimerThread();
            CountDownLatch ran = new CountDownLatch(1);
            boolean[] cancelled = { false };
            timer.after(Duration.ofMillis(20), () -> cancelled[0] = true).cancel();
            timer.after(Duration.ofMillis(40), ran::countDown);
            assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(cancelled[0]).isFalse();
            timer.close();
        }

    }

}
