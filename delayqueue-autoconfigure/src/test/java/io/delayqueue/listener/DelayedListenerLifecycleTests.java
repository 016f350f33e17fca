package io.delayqueue.listener;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.ErrorDecision;
import io.delayqueue.listener.handler.HandlerMethodFactory;
import io.delayqueue.listener.poll.HandlerExecution;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.listener.poll.PartitionBinding;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.listener.poll.TestBed;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.MessageEventRecorder;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.QueueRegistry;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.QueueRegistrar;
import io.delayqueue.store.routing.StoreComponents;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/**
 * Tests P12: which messages a stop gives back, waits for and acknowledges, and that a
 * restart works. Uses real threads, whose interaction it tests.
 */
class DelayedListenerLifecycleTests {

    private static final long LIMIT = 60;

    private final TestBed bed = new TestBed();

    private final DelayedListenerRegistry registry = new DelayedListenerRegistry((queue) -> TestBed.settings(),
            new HandlerMethodFactory(new EnvelopeCodec(JsonMapper.builder().build()), null, MessageObservations.NONE),
            MessageEventRecorderFactory.NONE);

    private DelayedListenerLifecycle worker = worker(Duration.ofSeconds(LIMIT));

    private DelayedListenerLifecycle worker(Duration shutdownTimeout) {
        return new DelayedListenerLifecycle(this.bed.components(), this.registry, (event) -> {
        }, new SharedListenerSettings(shutdownTimeout, Duration.ofMillis(100), null, false, HandlerExecution.DEFAULT),
                NodeHeartbeat.none());
    }

    @AfterEach
    void stop() {
        // Ends the loop of a failed test, which would affect later tests.
        this.bed.store.resume();
        this.worker.stop();
    }

    private DefaultListenerContainer register(String id) {
        return register(id, true);
    }

    private DefaultListenerContainer register(String id, boolean autoStartup) {
        return register(id, autoStartup, this.bed.listenerSettings().lease());
    }

    private DefaultListenerContainer register(String id, boolean autoStartup, Duration lease) {
        ListenerSettings all = this.bed.listenerSettings();
        ListenerSettings settings = new ListenerSettings(all.concurrency(), lease, all.timeout(), all.maxAttempts(),
                all.maxLapses(), all.backoff(), all.expiryPolicy(), autoStartup, all.noRetryFor());
        DefaultListenerContainer container = new DefaultListenerContainer(id,
                List.of(new PartitionBinding(id, TestBed.QUEUE, settings, this.bed.handler, this.bed.counters,
                        MessageEventRecorder.NONE)
                    .with(this.bed.errorHandler)));
        assertThat(this.registry.register(container)).isTrue();
        return container;
    }

    private void send(String id) {
        synchronized (this.bed.store) {
            this.bed.store.add(id, Duration.ZERO);
        }
        this.bed.store.wakeUp(TestBed.QUEUE);
    }

    private boolean isGone(String id) {
        synchronized (this.bed.store) {
            return !this.bed.store.messages.containsKey(id);
        }
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces()
            .keySet()
            .stream()
            .map(Thread::getName)
            .filter((name) -> name.startsWith("delayqueue-"))
            .toList();
    }

    private static List<String> timers() {
        return threads().stream().filter((name) -> name.endsWith("-timer")).toList();
    }

    private boolean isListening() {
        return !this.bed.store.listeners.getOrDefault(TestBed.QUEUE, List.of()).isEmpty();
    }

    @Test
    void aQueueThatCouldNotBeRegisteredAtTheStartIsRegisteredLater() throws Exception {
        CountDownLatch noted = new CountDownLatch(2);
        QueueRegistry registry = mock(QueueRegistry.class);
        when(registry.add(TestBed.QUEUE.queue())).thenAnswer((call) -> {
            noted.countDown();
            return CompletableFuture.failedFuture(new IllegalStateException("away"));
        });
        AtomicLong minutes = new AtomicLong();
        StoreComponents components = this.bed.components();
        this.worker = new DelayedListenerLifecycle(new StoreComponents(components.messages(), components.inspector(),
                components.wakeUps(), components.partitions(), components.events(),
                new QueueRegistrar(registry, () -> TimeUnit.MINUTES.toNanos(minutes.incrementAndGet())),
                components.schedules()), this.registry, (event) -> {
                }, new SharedListenerSettings(Duration.ofSeconds(LIMIT), Duration.ofMillis(100), null, false,
                        HandlerExecution.DEFAULT),
                NodeHeartbeat.none());
        register("a");

        this.worker.start();

        assertThat(noted.await(LIMIT, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void startsNothingWithoutListeners() {
        int before = threads().size();
        this.worker.start();

        assertThat(this.worker.isRunning()).isTrue();
        assertThat(threads()).hasSizeLessThanOrEqualTo(before);
        assertThat(this.bed.store.calls).isEmpty();
        this.worker.stop();
        assertThat(this.worker.isRunning()).isFalse();
    }

    @Test
    void startsLateAndStopsEarly() {
        assertThat(this.worker.getPhase()).isEqualTo(Integer.MAX_VALUE - 100);
        assertThat(this.worker.isAutoStartup()).isTrue();
    }

    @Test
    void handlesMessagesUntilItStopsAndAgainAfterEachStart() {
        register("l");
        for (int i = 0; i < 3; i++) {
            this.worker.start();
            this.worker.start();
            assertThat(timers()).hasSize(1);
            String id = "m" + i;
            send(id);
            TestBed.await(() -> isGone(id));
            this.worker.stop();
            TestBed.await(() -> timers().isEmpty());
            assertThat(isListening()).isFalse();
        }
        assertThat(this.bed.store.calls).containsSubsequence("listen orders", "unlisten orders", "listen orders",
                "unlisten orders");
        assertThat(this.registry.require("l").statistics().handled()).isEqualTo(3);
    }

    @Test
    void releasesPendingClaimsWaitsForHandlersAndFlushesWhenItStops() throws Exception {
        this.bed.concurrency = 2;
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        this.bed.handler = (message, delivery) -> (continuations) -> {
            started.countDown();
            assertThat(release.await(LIMIT, TimeUnit.SECONDS)).isTrue();
            return null;
        };
        register("l");
        this.worker.start();
        send("a");
        assertThat(started.await(LIMIT, TimeUnit.SECONDS)).isTrue();
        CompletableFuture<Void> empty = this.bed.store.stall("claim");
        TestBed.await(() -> empty.getNumberOfDependents() > 0);
        CompletableFuture<Void> claimed = this.bed.store.stall("claim");
        synchronized (this.bed.store) {
            this.bed.store.add("b", Duration.ZERO);
        }
        empty.complete(null);
        TestBed.await(() -> claimed.getNumberOfDependents() > 0);
        CountDownLatch stopped = new CountDownLatch(1);
        this.worker.stop(stopped::countDown);
        claimed.complete(null);
        TestBed.await(() -> this.bed.store.calls.contains("release [b] as before"));
        assertThat(stopped.getCount()).isOne();
        assertThat(this.bed.store.count("acknowledge")).isZero();

        release.countDown();
        assertThat(stopped.await(LIMIT, TimeUnit.SECONDS)).isTrue();
        assertThat(isGone("a")).isTrue();
        assertThat(this.bed.store.messages.get("b").failures).isZero();
        assertThat(this.worker.isRunning()).isFalse();
    }

    @Test
    void renewsTheLeaseOfAHandlerThatAStopWaitsFor() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        this.bed.handler = (message, delivery) -> (continuations) -> {
            started.countDown();
            release.await(LIMIT, TimeUnit.SECONDS);
            return null;
        };
        register("l", true, Duration.ofSeconds(1));
        this.worker.start();
        send("a");
        assertThat(started.await(LIMIT, TimeUnit.SECONDS)).isTrue();
        CountDownLatch stopped = new CountDownLatch(1);
        this.worker.stop(stopped::countDown);

        long renewals = this.bed.store.count("extend");
        TestBed.await(() -> this.bed.store.count("extend") >= renewals + 2);
        assertThat(stopped.getCount()).isOne();

        release.countDown();
        assertThat(stopped.await(LIMIT, TimeUnit.SECONDS)).isTrue();
    }

    /** The error handler is not asked: the handlers have not failed. */
    @Test
    void interruptsHandlersThatOutliveTheTimeoutAndReleasesTheirMessages() throws Exception {
        this.bed.errorHandler = (delivery, error) -> ErrorDecision.deadLetter();
        this.worker = worker(Duration.ofMillis(50));
        this.bed.concurrency = 2;
        CountDownLatch started = new CountDownLatch(2);
        CountDownLatch never = new CountDownLatch(1);
        Set<Thread> handlers = ConcurrentHashMap.newKeySet();
        this.bed.handler = (message, delivery) -> (continuations) -> {
            handlers.add(Thread.currentThread());
            started.countDown();
            never.await();
            return null;
        };
        register("l");
        this.worker.start();
        send("a");
        send("b");
        assertThat(started.await(LIMIT, TimeUnit.SECONDS)).isTrue();

        this.worker.stop();

        TestBed.await(() -> this.bed.store.count("release") == 2);
        TestBed.await(() -> handlers.stream().noneMatch(Thread::isAlive));
        assertThat(handlers).hasSize(2);
        assertThat(this.bed.store.messages.values()).hasSize(2)
            .allSatisfy((entry) -> assertThat(entry.failures).isZero())
            .allSatisfy((entry) -> assertThat(entry.token).isNull());
        assertThat(this.registry.require("l").statistics().failed()).isZero();
    }

    @Test
    void interruptsNoHandlerWithinItsTime() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        boolean[] interrupted = { false };
        this.bed.handler = (message, delivery) -> (continuations) -> {
            started.countDown();
            release.await();
            interrupted[0] = Thread.interrupted();
            return null;
        };
        register("l");
        this.worker.start();
        send("a");
        assertThat(started.await(LIMIT, TimeUnit.SECONDS)).isTrue();
        CountDownLatch stopped = new CountDownLatch(1);
        this.worker.stop(stopped::countDown);
        release.countDown();

        assertThat(stopped.await(LIMIT, TimeUnit.SECONDS)).isTrue();
        assertThat(interrupted[0]).isFalse();
        assertThat(isGone("a")).isTrue();
    }

    /**
     * P12: no other node gets a message that is still handled before its lease lapses.
     */
    @Test
    void leavesTheLeaseToAHandlerThatDoesNotHeedTheInterruptAndSettlesLate() throws Exception {
        this.worker = worker(Duration.ofMillis(50));
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        this.bed.handler = (message, delivery) -> (continuations) -> {
            started.countDown();
            while (release.getCount() > 0) {
                try {
                    release.await();
                }
                catch (InterruptedException ex) {
                    interrupted.countDown();
                }
            }
            return null;
        };
        register("l");
        this.worker.start();
        send("a");
        assertThat(started.await(LIMIT, TimeUnit.SECONDS)).isTrue();

        this.worker.stop();

        assertThat(interrupted.await(LIMIT, TimeUnit.SECONDS)).isTrue();
        assertThat(isGone("a")).isFalse();
        assertThat(this.bed.store.count("release")).isZero();
        release.countDown();
        TestBed.await(() -> isGone("a"));
    }

    @Test
    void stopsInTimeWhenTheStoreDoesNotAnswer() {
        this.worker = worker(Duration.ofMillis(50));
        register("l");
        this.worker.start();
        CompletableFuture<Void> never = this.bed.store.stall("claim");
        // Does not rely on the count: a claim may be counted before it meets the stall.
        TestBed.await(() -> never.getNumberOfDependents() > 0);

        this.worker.stop();

        assertThat(this.worker.isRunning()).isFalse();
        never.complete(null);
        TestBed.await(() -> !isListening());
    }

    /** If it waited for the shutdown timeout, the test would time out. */
    @Test
    void stopsInTimeWhenTheStoreIsAway() {
        this.worker = worker(Duration.ofHours(1));
        register("l");
        this.worker.start();
        this.bed.store.fail("claim");
        this.bed.store.fail("release");

        this.worker.stop();

        assertThat(this.worker.isRunning()).isFalse();
    }

    @Test
    void leavesListenersAloneThatDoNotStartByThemselves() {
        ListenerContainer container = register("l", false);
        this.worker.start();
        assertThat(container.isRunning()).isFalse();
        assertThat(this.bed.store.calls).isEmpty();

        container.start();
        container.start();
        assertThat(container.isRunning()).isTrue();
        assertThat(isListening()).isTrue();
        send("m");
        TestBed.await(() -> isGone("m"));

        this.worker.stop();
        assertThat(container.isRunning()).isFalse();
        this.worker.start();
        assertThat(container.isRunning()).isTrue();
    }

    @Test
    void keepsAStoppedListenerStoppedAcrossARestart() {
        ListenerContainer container = register("l");
        this.worker.start();
        container.stop();
        assertThat(container.isRunning()).isFalse();
        TestBed.await(() -> !isListening());

        this.worker.stop();
        this.worker.start();
        assertThat(container.isRunning()).isFalse();
        container.start();
        send("m");
        TestBed.await(() -> isGone("m"));
    }

    @Test
    void pausesAndResumes() {
        ListenerContainer container = register("l");
        container.pause();
        this.worker.start();
        assertThat(container.isPaused()).isTrue();
        assertThat(container.isRunning()).isTrue();
        send("m");
        this.worker.stop();
        assertThat(this.bed.store.count("claim")).isZero();

        this.worker.start();
        container.resume();
        assertThat(container.isPaused()).isFalse();
        TestBed.await(() -> isGone("m"));
    }

    @Test
    void startsAListenerThatIsRegisteredLater() {
        this.worker.start();
        register("late");
        send("m");
        TestBed.await(() -> isGone("m"));
        assertThat(this.registry.listeners()).hasSize(1);
        assertThat(
                this.registry
                    .register(
                            new DefaultListenerContainer("late",
                                    List.of(new PartitionBinding("late", TestBed.QUEUE, TestBed.settings(),
                                            this.bed.handler, this.bed.counters, MessageEventRecorder.NONE)))))
            .isFalse();
    }

    @Test
    void startsAgainThoughTheStopBeforeStillWaits() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        this.bed.handler = (message, delivery) -> (continuations) -> {
            started.countDown();
            assertThat(release.await(LIMIT, TimeUnit.SECONDS)).isTrue();
            return null;
        };
        ListenerContainer container = register("l");
        this.worker.start();
        send("a");
        assertThat(started.await(LIMIT, TimeUnit.SECONDS)).isTrue();
        CountDownLatch stopped = new CountDownLatch(1);
        this.worker.stop(stopped::countDown);
        this.worker.start();
        release.countDown();
        assertThat(stopped.await(LIMIT, TimeUnit.SECONDS)).isTrue();

        assertThat(this.worker.isRunning()).isTrue();
        assertThat(container.isRunning()).isTrue();
        send("b");
        TestBed.await(() -> isGone("a") && isGone("b"));
    }

    /** Uses the registry's lock: a start attaches its run under it, and waits here. */
    @Test
    void leavesNothingRunningWhenAStopOvertakesTheStart() throws Exception {
        ListenerContainer container = register("l");
        Thread start = new Thread(this.worker::start, "start");
        synchronized (this.registry) {
            start.start();
            TestBed.await(() -> this.worker.isRunning() && start.getState() == Thread.State.BLOCKED);
            this.worker.stop();
        }
        start.join();

        assertThat(this.worker.isRunning()).isFalse();
        assertThat(container.isRunning()).isFalse();
        assertThat(isListening()).isFalse();
        ListenerContainer late = register("late");
        assertThat(late.isRunning()).isFalse();
        assertThat(this.bed.store.calls).isEmpty();

        this.worker.start();
        assertThat(container.isRunning()).isTrue();
        assertThat(late.isRunning()).isTrue();
    }

    @Test
    void leavesNothingRunningWhenItCannotStart() {
        register("l");
        this.worker = new DelayedListenerLifecycle(this.bed.components((queue, scheduler) -> {
            throw new IllegalStateException("no");
        }), this.registry, (event) -> {
        }, new SharedListenerSettings(Duration.ZERO, Duration.ofSeconds(5), null, false, HandlerExecution.DEFAULT),
                NodeHeartbeat.none());

        assertThatIllegalStateException().isThrownBy(this.worker::start);
        assertThat(this.worker.isRunning()).isFalse();
        TestBed.await(() -> timers().isEmpty());
    }

    @Test
    void callsBackWhenItWasNotRunning() {
        CountDownLatch stopped = new CountDownLatch(1);
        this.worker.stop(stopped::countDown);
        assertThat(stopped.getCount()).isZero();
    }

}
