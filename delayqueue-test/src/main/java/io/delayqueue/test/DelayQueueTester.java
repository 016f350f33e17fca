package io.delayqueue.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayedMessage;
import io.delayqueue.MessageLimits;
import io.delayqueue.QueueName;
import io.delayqueue.SendResult;
import io.delayqueue.StoredMessage;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionCounts;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.template.DelayQueueTemplate;
import org.jspecify.annotations.Nullable;

/**
 * Tests an application in virtual time: the listeners, retries, leases and scripts are
 * those of production, and time passes only when a test says so.
 *
 * <pre class="code">
 * &#64;DelayQueueTest(OrderTimeouts.class)
 * class OrderTimeoutsTests {
 *
 *     &#64;Test
 *     void unpaidOrderIsCancelled(@Autowired OrderTimeouts timeouts, @Autowired DelayQueueTester tester) {
 *         timeouts.placed(42);
 *         assertThat(tester.advance(Duration.ofMinutes(30))).hasSucceeded(1);
 *     }
 *
 * }
 * </pre>
 *
 * Nothing is delivered between the calls of this object. Each call returns when all is
 * quiet: no handler runs, and nothing more is due. It throws an {@link AssertionError} if
 * a handler does not end within five seconds ({@code delayqueue.test.quiet-timeout}),
 * which names the handler and where it stands, or after 100,000 deliveries.
 * <p>
 * Virtual are due times, leases and their renewal, timeouts of handlers, backoff (without
 * jitter), pauses, times to live, and the retention of dead letters. Real are the time
 * limits of commands, of {@code receive} and of a shutdown. Time stands on whole
 * milliseconds.
 * <p>
 * <strong>Threads.</strong> One thread at a time. Handlers run on threads of their own,
 * as in production, and may not call this object.
 */
public final class DelayQueueTester {

    private final VirtualTimeEngine engine;

    private final HandlerProbe probe;

    private final Context context;

    private final AtomicLong performed = new AtomicLong();

    DelayQueueTester(VirtualTimeEngine engine, HandlerProbe probe, Context context) {
        this.engine = engine;
        this.probe = probe;
        this.context = context;
    }

    /** Returns the present virtual time. */
    public Instant now() {
        return this.engine.time().now();
    }

    /** Returns a clock that follows virtual time, in UTC. */
    public Clock clock() {
        return this.engine.time().clock(ZoneOffset.UTC);
    }

    /**
     * Advances time, and delivers each message at its due time. Retries and messages that
     * handlers send are delivered too, if they are due by then.
     * @param time zero or more whole milliseconds
     * @return what was delivered
     */
    public Deliveries advance(Duration time) {
        long millis = VirtualTime.millis(time);
        return deliver(() -> this.engine.advanceTo(Math.addExact(this.engine.time().millis(), millis)));
    }

    /**
     * Advances to a moment, as {@link #advance} does.
     * @param time not before {@link #now()}, to the millisecond
     * @return what was delivered
     */
    public Deliveries advanceTo(Instant time) {
        Duration left = Duration.between(now(), time);
        if (left.isNegative()) {
            throw new IllegalArgumentException(
                    "Time never goes back within a test: it is %s, so it cannot advance to %s".formatted(now(), time));
        }
        return advance(left);
    }

    /**
     * Delivers all messages that are due now, and those that their handlers send without
     * delay. Time stands.
     * @return what was delivered
     */
    public Deliveries drain() {
        return advance(Duration.ZERO);
    }

    /**
     * Delivers the next message of a queue, and no other of that queue. If none is due,
     * advances to the due time of the next one, delivering on the way what other queues
     * have due before.
     * @return what was delivered; empty if the queue has no message
     */
    public Deliveries runNext(String queue) {
        QueueName name = new QueueName(queue);
        requireListener(name);
        requireCommitted();
        return this.engine.call(() -> {
            Due next = nextDue(name);
            while (next != null && next.millis() > this.engine.time().millis()) {
                this.engine.stepOthers(name, next.millis());
                next = nextDue(name);
            }
            if (next != null) {
                this.engine.deliverOne(next.partition(), null);
            }
        });
    }

    private @Nullable Due nextDue(QueueName queue) {
        Due next = null;
        for (Partition partition : this.context.layouts().read(queue).join().all(queue)) {
            PartitionCounts counts = this.context.reader().partitions().counts(partition).join();
            Instant due = counts.nextDueAt();
            if (due != null && (next == null || due.toEpochMilli() < next.millis())) {
                next = new Due(partition, due.toEpochMilli());
            }
        }
        return next;
    }

    private void requireListener(QueueName queue) {
        List<String> queues = this.context.registry()
            .listeners()
            .stream()
            .filter(ListenerContainer::isRunning)
            .flatMap((listener) -> listener.queues().stream())
            .toList();
        if (!queues.contains(queue.value())) {
            throw new IllegalArgumentException(
                    "No running listener has queue '%s', only %s".formatted(queue, new LinkedHashSet<>(queues)));
        }
    }

    /**
     * Sends a payload to a listener, and delivers this message only. It is a message like
     * any other: after a failure it is retried or becomes a dead letter.
     * @param listener the id of the listener: that of its annotation, or else the names
     * of bean and method, such as {@code orderTimeouts.cancelUnpaid}
     * @return the one delivery
     */
    public Deliveries perform(String listener, Object payload) {
        String queue = this.context.registry().require(listener).queues().get(0);
        requireListener(new QueueName(queue));
        requireCommitted();
        String id = "performed-" + this.performed.incrementAndGet();
        SendResult sent = this.context.operations()
            .send(DelayedMessage.builder(queue, payload)
                .id(id)
                .priority(MessageLimits.MAX_PRIORITY)
                .afterCommit(false)
                .build());
        return this.engine.deliverOne(homeOf(new QueueName(queue), sent.id()), id);
    }

    private Partition homeOf(QueueName queue, String id) {
        return this.context.layouts().read(queue).join().target(queue, id).partition();
    }

    /**
     * Returns a queue for assertions on what it holds, such as
     * {@code assertThat(tester.queue("order-timeout")).isEmpty()}.
     */
    public TestQueue queue(String queue) {
        return new TestQueue(new QueueName(queue).value(), this.engine.time(), this.context.operations(),
                this.context.reader());
    }

    /**
     * Returns an object that moves time while the handler of a message runs: to test
     * renewal, timeouts and fencing.
     * @param id the id of a message that waits in a queue of a listener; of several, the
     * one that is due first
     */
    public WhileHandling whileHandling(String id) {
        return new WhileHandling(this, id);
    }

    Deliveries whileHandling(String id, Runnable task) {
        Hold hold = new Hold(id);
        this.probe.add(hold);
        try {
            return deliver(() -> {
                advanceToStart(hold, id);
                task.run();
                this.probe.remove(hold);
                this.engine.deliver(() -> {
                });
            });
        }
        finally {
            this.probe.remove(hold);
        }
    }

    private void advanceToStart(Hold hold, String id) {
        this.engine.settle();
        if (!hold.isAttached()) {
            this.engine.advanceTo(dueTimeOf(id));
        }
        if (!hold.isAttached()) {
            throw new AssertionError("The handler of message '%s' was not called at %s".formatted(id, now()));
        }
        try {
            hold.awaitStart();
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while a handler starts", ex);
        }
    }

    /** Returns when the first message with an id is due; each queue may have one. */
    private long dueTimeOf(String id) {
        Set<String> queues = new LinkedHashSet<>();
        for (ListenerContainer listener : this.context.registry().listeners()) {
            queues.addAll(listener.queues());
        }
        Instant first = null;
        for (String queue : queues) {
            Optional<StoredMessage> message = this.context.operations().find(queue, id);
            Instant due = message.map(StoredMessage::dueAt).orElse(null);
            if (due != null && (first == null || due.isBefore(first))) {
                first = due;
            }
        }
        if (first == null) {
            throw new AssertionError("No message '%s' waits in the queues of the listeners, %s".formatted(id, queues));
        }
        return first.toEpochMilli();
    }

    /** Makes the next handler of a queue fail with an exception, without calling it. */
    public void failNext(String queue, Throwable failure) {
        requireListener(new QueueName(queue));
        this.context.faults().failNext(queue, failure);
    }

    /**
     * Makes a message lose its lease, as if another node had taken it over: the running
     * handler, or else the next one, finds {@code Delivery.isLeased()} false, its outcome
     * is rejected, and the message is delivered again.
     */
    public void loseLease(String id) {
        if (!this.probe.lose(id)) {
            this.context.faults().loseLease(id);
        }
    }

    /**
     * Makes the process "die" at the end of the next handler of a message: all effects of
     * the handler remain, but no outcome reaches the store. The message is delivered
     * again when its lease has run out.
     */
    public void crashDuring(String id) {
        this.context.faults().crashDuring(id);
    }

    /**
     * Makes the store unreachable until a span of virtual time has passed. Sends fail,
     * leases cannot be renewed, and outcomes are repeated as in production.
     */
    public void redisAway(Duration time) {
        this.context.faults().away(VirtualTime.millis(time));
    }

    /**
     * Makes the next send fail.
     * @param effect {@code NONE} if nothing is to be stored; {@code UNKNOWN} if the
     * message is stored but the answer is lost; {@code STORED} if it is stored but not
     * replicated
     */
    public void failNextSend(Effect effect) {
        this.context.faults().failNextSend(effect);
    }

    private Deliveries deliver(Runnable steps) {
        requireCommitted();
        return this.engine.deliver(steps);
    }

    private void requireCommitted() {
        int waiting = this.context.operations().waitingForCommit();
        if (waiting > 0) {
            throw new IllegalStateException(("%d of the test's sends wait for the commit of its transaction, and would "
                    + "not be delivered. Before time moves, commit it: TestTransaction.flagForCommit(); "
                    + "TestTransaction.end()")
                .formatted(waiting));
        }
    }

    /**
     * Begins a test with an empty namespace.
     * @param deliverTwice whether each message is delivered twice
     */
    void begin(boolean deliverTwice) {
        this.engine.begin(VirtualTime.begin(this.context.startAt()), this.context.clear());
        this.context.faults().deliverTwice(deliverTwice);
    }

    /** Holds a queue's next message. */
    private record Due(Partition partition, long millis) {
    }

    /** Holds what the tester uses of the application. */
    record Context(DelayedListenerRegistry registry, DelayQueueTemplate operations, VirtualTimeRuntime.Reader reader,
            PartitionLayouts layouts, Faults faults, @Nullable Instant startAt, Runnable clear) {
    }

}
