package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

import io.delayqueue.DelayedListenerErrorHandler;
import io.delayqueue.Delivery;
import io.delayqueue.ErrorDecision;
import io.delayqueue.QueueName;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.fixtures.store.ListenerFakeStore;
import io.delayqueue.listener.handler.MessageHandler;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.MessageEventRecorder;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.StoreComponents;
import org.awaitility.Awaitility;

import org.springframework.context.ApplicationEventPublisher;

import static org.mockito.Mockito.mock;

/**
 * Runs a loop on the test's own thread: the store is a map, handlers wait in a queue
 * until they are run, and time stands still until it is moved.
 */
public final class TestBed {

    public static final Partition QUEUE = Partition.first(new QueueName("orders"));

    public static final Duration LEASE = Duration.ofSeconds(30);

    /** How long a handled message waits for others. */
    public static final Duration LINGER = Duration.ofMillis(5);

    static final Duration SAFETY_POLL = Duration.ofSeconds(5);

    public final ManualNanoClock clock = new ManualNanoClock();

    public final ListenerFakeStore store = new ListenerFakeStore(this.clock);

    public final ManualTimer timer = new ManualTimer(this.clock);

    public final Deque<Runnable> handlers = new ArrayDeque<>();

    public final List<Object> events = new ArrayList<>();

    public final List<String> handled = new ArrayList<>();

    public final ListenerCounters counters = new ListenerCounters();

    public boolean rejecting;

    public int concurrency = 1;

    public Duration timeout;

    public int maxAttempts = 3;

    public ExpiryPolicy expiryPolicy = ExpiryPolicy.DROP;

    public Set<Class<? extends Throwable>> noRetryFor = Set.of();

    public MessageHandler handler = (message, delivery) -> (continuations) -> {
        this.handled.add(message.lease().id());
        return null;
    };

    public DelayedListenerErrorHandler errorHandler = (delivery, error) -> ErrorDecision.standard();

    /** The layouts of queues that were never partitioned. */
    public static final PartitionLayouts PARTITIONS = new PartitionLayouts(PartitionLayoutStore.NONE, (queue) -> 0,
            () -> 0);

    public final PollLoopContext context = with().build();

    private void execute(Runnable task) {
        if (this.rejecting) {
            throw new RejectedExecutionException("no threads left");
        }
        this.handlers.add(task);
    }

    /** Returns a builder of a runtime, whose defaults are those of this bed. */
    RuntimeBuilder with() {
        return new RuntimeBuilder();
    }

    /**
     * Returns an executor that runs iterations in the calling thread, logs at once, and
     * has no extra threads.
     */
    static HandlerExecutor executor(Executor handlers) {
        return new HandlerExecutor(handlers, false, null, Runnable::run, (task) -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
    }

    public static ListenerSettings settings() {
        return new TestBed().listenerSettings();
    }

    public ListenerSettings listenerSettings() {
        return new ListenerSettings(this.concurrency, LEASE, this.timeout, this.maxAttempts, 3,
                new BackoffPolicy(Duration.ofSeconds(1), 2, Duration.ofMinutes(1), 0), this.expiryPolicy, true,
                this.noRetryFor);
    }

    public PartitionBinding queue() {
        return new PartitionBinding("listener", QUEUE, listenerSettings(), this.handler, this.counters,
                MessageEventRecorder.NONE)
            .with(this.errorHandler);
    }

    public PollLoop loop() {
        return loop(queue(), this.context);
    }

    /** Claims what is due and hands it to handlers. */
    public void pollOnce() {
        loop().runOnce();
    }

    public static PollLoop loop(PartitionBinding queue, PollLoopContext context) {
        return new PollLoop(queue, context,
                new HandlerConcurrencyLimiter(queue.settings().concurrency(), context.executor(), context.nanoTime()));
    }

    public StoreComponents components() {
        return components(this.store);
    }

    /** Returns the store for a lifecycle, which never calls the inspector. */
    public StoreComponents components(WakeUps wakeUps) {
        return new StoreComponents(this.store, mock(MessageInspector.class), wakeUps, PARTITIONS);
    }

    /** Waits for another thread, for a minute at most. */
    public static void await(BooleanSupplier condition) {
        Awaitility.await()
            .pollInSameThread()
            .pollDelay(Duration.ZERO)
            .pollInterval(Duration.ofMillis(1))
            .atMost(Duration.ofMinutes(1))
            .until(condition::getAsBoolean);
    }

    /** Runs handlers until none waits. */
    public void runHandlers() {
        while (!this.handlers.isEmpty()) {
            this.handlers.poll().run();
        }
    }

    /** Claims, handles and settles due messages once, including acknowledgements. */
    public void handleOnce(PollLoop loop) {
        poll(loop);
        runHandlers();
        settle(loop);
    }

    /** Advances time a little, so that the loop acknowledges handled messages. */
    public void settle(PollLoop loop) {
        loop.runOnce();
        this.clock.advance(LINGER);
        loop.runOnce();
    }

    /** Runs iterations while the next is due at once, as until the end of a stop. */
    static void iterations(PollLoop loop) {
        Duration wait = Duration.ZERO;
        while (wait != null && wait.isZero()) {
            wait = loop.runOnce();
        }
    }

    /** Creates a scheduler without a loop, which counts its requested iterations. */
    PollLoopScheduler scheduler(AtomicInteger iterations) {
        PollLoopScheduler scheduler = new PollLoopScheduler(() -> {
            iterations.incrementAndGet();
            return null;
        }, Runnable::run, this.timer, this.clock);
        scheduler.start();
        iterations.set(0);
        return scheduler;
    }

    PollLoopScheduler pollLoopScheduler() {
        return scheduler(new AtomicInteger());
    }

    /** Makes the loop poll now, regardless of its schedule. */
    public static Duration poll(PollLoop loop) {
        loop.onWakeUp(WakeUpSignal.POLL_NOW);
        return loop.runOnce();
    }

    /** Builds a runtime; the defaults are those of the bed. */
    final class RuntimeBuilder {

        private ApplicationEventPublisher events = (event) -> TestBed.this.events.add(event);

        private HandlerExecutor executor = TestBed.executor(TestBed.this::execute);

        private LoopTimer timer = TestBed.this.timer;

        private PrimaryPartitions primaryPartitions;

        private SharedListenerSettings settings = new SharedListenerSettings(Duration.ofSeconds(20), SAFETY_POLL, null,
                false, HandlerExecution.DEFAULT);

        private LongSupplier nanoTime = TestBed.this.clock;

        RuntimeBuilder events(ApplicationEventPublisher events) {
            this.events = events;
            return this;
        }

        RuntimeBuilder executor(Executor handlers) {
            return executor(TestBed.executor(handlers));
        }

        RuntimeBuilder executor(HandlerExecutor executor) {
            this.executor = executor;
            return this;
        }

        RuntimeBuilder timer(LoopTimer timer) {
            this.timer = timer;
            return this;
        }

        RuntimeBuilder primaryPartitions(PrimaryPartitions primaryPartitions) {
            this.primaryPartitions = primaryPartitions;
            return this;
        }

        RuntimeBuilder settings(SharedListenerSettings settings) {
            this.settings = settings;
            return this;
        }

        RuntimeBuilder nanoTime(LongSupplier nanoTime) {
            this.nanoTime = nanoTime;
            return this;
        }

        PollLoopContext build() {
            return new PollLoopContext(TestBed.this.store, this.events, this.executor, this.timer,
                    new StoreOutageLog(TestBed.this.clock, Runnable::run), new ClockJumpLog(), PARTITIONS,
                    this.primaryPartitions, this.settings, this.nanoTime);
        }

    }

    /** Delegates to a handler, and says how long it is unavailable. */
    static class FakeAvailability implements MessageHandler {

        private final MessageHandler handler;

        Duration until = Duration.ZERO;

        int limit = Integer.MAX_VALUE;

        FakeAvailability(MessageHandler handler) {
            this.handler = handler;
        }

        @Override
        public Call prepare(ClaimedMessage message, Delivery delivery) throws Exception {
            return this.handler.prepare(message, delivery);
        }

        @Override
        public Duration untilAvailable() {
            return this.until;
        }

        @Override
        public int claimLimit() {
            return this.limit;
        }

    }

}
