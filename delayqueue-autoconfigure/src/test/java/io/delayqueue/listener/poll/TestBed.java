package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import io.delayqueue.QueueName;
import io.delayqueue.listener.handler.MessageHandler;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.routing.DelayQueueStore;
import io.delayqueue.store.routing.PartitionLayoutCache;

import static org.mockito.Mockito.mock;

/**
 * Runs a loop on the test's own thread: the store is a map, handlers wait in a queue
 * until they are run, and time stands still until it is moved.
 */
public final class TestBed {

    public static final Partition QUEUE = Partition.first(new QueueName("orders"));

    static final Duration LEASE = Duration.ofSeconds(30);

    /** How long a handled message waits for others. */
    static final Duration LINGER = Duration.ofMillis(5);

    static final Duration SAFETY_POLL = Duration.ofSeconds(5);

    final TestClock clock = new TestClock();

    public final FakeStore store = new FakeStore(this.clock);

    final ManualTimer timer = new ManualTimer(this.clock);

    final Deque<Runnable> handlers = new ArrayDeque<>();

    final List<Object> events = new ArrayList<>();

    final List<String> handled = new ArrayList<>();

    public final ListenerCounters counters = new ListenerCounters();

    public boolean rejecting;

    public int concurrency = 1;

    Duration timeout;

    int maxAttempts = 3;

    ExpiryPolicy expiredPolicy = ExpiryPolicy.DROP;

    Set<Class<? extends Throwable>> noRetryFor = Set.of();

    public MessageHandler handler = (message, delivery) -> () -> {
        this.handled.add(message.lease().id());
        return null;
    };

    /** The layouts of queues that were never partitioned. */
    static final PartitionLayoutCache PARTITIONS = new PartitionLayoutCache(PartitionLayoutStore.NONE, (queue) -> 0,
            () -> 0);

    public final ListenerRuntime context = new ListenerRuntime(this.store, (event) -> this.events.add(event),
            this::execute, this.timer, new StoreOutageLog(this.clock), new ClockJumpDetector(), PARTITIONS, null,
            new ListenerRuntimeSettings(Duration.ofSeconds(20), SAFETY_POLL, null, false), this.clock);

    private void execute(Runnable task) {
        if (this.rejecting) {
            throw new RejectedExecutionException("no threads left");
        }
        this.handlers.add(task);
    }

    public static ListenerSettings settings() {
        return new TestBed().listenerSettings();
    }

    public ListenerSettings listenerSettings() {
        return new ListenerSettings(this.concurrency, LEASE, this.timeout, this.maxAttempts, 3,
                new RetryPolicy(Duration.ofSeconds(1), 2, Duration.ofMinutes(1), 0), this.expiredPolicy, true,
                this.noRetryFor);
    }

    public ListenerEndpoint queue() {
        return new ListenerEndpoint("listener", QUEUE, listenerSettings(), this.handler, this.counters);
    }

    public PollLoop loop() {
        return loop(queue(), this.context);
    }

    public static PollLoop loop(ListenerEndpoint queue, ListenerRuntime context) {
        return new PollLoop(queue, context,
                new HandlerPermits(queue.settings().concurrency(), context.threads(), context.nanoTime()));
    }

    public DelayQueueStore ports() {
        return ports(this.store);
    }

    /** Returns the store for a lifecycle, which never calls the inspector. */
    public DelayQueueStore ports(WakeUps wakeUps) {
        return new DelayQueueStore(this.store, mock(MessageInspector.class), wakeUps, PARTITIONS);
    }

    /** Waits for another thread, for half a minute at most. */
    public static void await(BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(30)) {
                throw new AssertionError("Not so within 30 s");
            }
            Thread.onSpinWait();
        }
    }

    /** Runs handlers until none waits. */
    void runHandlers() {
        while (!this.handlers.isEmpty()) {
            this.handlers.poll().run();
        }
    }

    /** Claims, handles and settles due messages once, including acknowledgements. */
    public void handleOnce(PollLoop loop) {
        look(loop);
        runHandlers();
        settle(loop);
    }

    /** Advances time a little, so that the loop acknowledges handled messages. */
    void settle(PollLoop loop) {
        loop.turn();
        this.clock.advance(LINGER);
        loop.turn();
    }

    /** Runs turns while the next is due at once, as until the end of a stop. */
    static void turns(PollLoop loop) {
        Duration wait = Duration.ZERO;
        while (wait != null && wait.isZero()) {
            wait = loop.turn();
        }
    }

    /** Creates an alarm without a loop, which counts its requested turns. */
    Alarm alarm(AtomicInteger turns) {
        Alarm alarm = new Alarm(() -> {
            turns.incrementAndGet();
            return null;
        }, Runnable::run, this.timer, this.clock);
        alarm.start();
        turns.set(0);
        return alarm;
    }

    Alarm alarm() {
        return alarm(new AtomicInteger());
    }

    /** Makes the loop poll now, regardless of its schedule. */
    static Duration look(PollLoop loop) {
        loop.heard(WakeUpSignal.LOOK);
        return loop.turn();
    }

}
