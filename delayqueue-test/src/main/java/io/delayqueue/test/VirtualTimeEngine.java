package io.delayqueue.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import io.delayqueue.QueueName;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.poll.PollLoopStatus;
import io.delayqueue.store.Partition;
import org.jspecify.annotations.Nullable;

import org.springframework.context.SmartLifecycle;

/**
 * Moves time from stop to stop, and at each of them lets listeners work until nothing
 * happens any more.
 * <p>
 * <strong>Threads.</strong> One thread at a time calls it.
 */
final class VirtualTimeEngine {

    /** More rounds of tasks at one moment mean that one plans itself again and again. */
    private static final int MAX_ROUNDS = 100_000;

    private final Parts parts;

    private final DelayedListenerRegistry registry;

    private final SmartLifecycle listeners;

    private final Duration quietTimeout;

    private final ReentrantLock lock = new ReentrantLock();

    /**
     * Creates an engine.
     * @param listeners starts and stops all listeners
     * @param quietTimeout how long to wait for handlers while none of them ends
     */
    VirtualTimeEngine(Parts parts, DelayedListenerRegistry registry, SmartLifecycle listeners, Duration quietTimeout) {
        this.listeners = listeners;
        this.parts = parts;
        this.registry = registry;
        this.quietTimeout = quietTimeout;
    }

    VirtualTime time() {
        return this.parts.time();
    }

    /** Delivers whatever is due while the steps move time. */
    Deliveries deliver(Runnable steps) {
        return call(() -> {
            this.parts.gate().open();
            this.parts.wakeUps().pollLoops();
            settle();
            steps.run();
        });
    }

    /**
     * Delivers one message that is due.
     * @param id its id; {@code null} for the first one
     */
    Deliveries deliverOne(Partition partition, @Nullable String id) {
        return call(() -> {
            this.parts.gate().openFor(partition, id);
            this.parts.wakeUps().pollLoops();
            settle();
        });
    }

    /**
     * Moves time to the next stop, but not beyond a moment, and delivers what all queues
     * but one have due before that moment.
     */
    void stepOthers(QueueName queue, long millis) {
        call(() -> {
            this.parts.gate().openExcept(queue);
            this.parts.wakeUps().pollLoops();
            settle();
            long next = nextStop();
            if (next < millis) {
                step(next);
            }
            else {
                time().set(millis);
            }
        });
    }

    /** Runs a task that calls this object, as part of one call. */
    Deliveries call(Runnable task) {
        requireOtherThread();
        if (!this.lock.tryLock()) {
            throw new IllegalStateException("Another thread is in a call of the DelayQueueTester, which moves time "
                    + "for all: wait until that call has returned");
        }
        boolean outermost = this.lock.getHoldCount() == 1;
        try {
            if (outermost) {
                this.parts.log().restart();
            }
            Set<Long> before = outermost ? Set.of() : this.parts.log().ended();
            task.run();
            return this.parts.log().without(before);
        }
        finally {
            if (outermost) {
                this.parts.gate().close();
                this.parts.log().clear();
            }
            this.lock.unlock();
        }
    }

    private void requireOtherThread() {
        if (this.parts.quietDetector().isHandlerThread()) {
            throw new IllegalStateException("A handler cannot move time, as the call would wait for the handler to "
                    + "end: call the DelayQueueTester in the test, or use whileHandling(id)");
        }
    }

    /** Moves time to a moment, and stops wherever something is planned. */
    void advanceTo(long millis) {
        for (long next = nextStop(); next <= millis; next = nextStop()) {
            step(next);
        }
        if (millis > time().millis()) {
            step(millis);
        }
    }

    private long nextStop() {
        boolean inFlight = loops().stream().anyMatch((loop) -> loop.inFlight() > 0);
        return this.parts.timers().nextStop(inFlight);
    }

    private void step(long millis) {
        time().set(Math.max(millis, time().millis()));
        this.parts.wakeUps().pollCallers();
        settle();
    }

    /** Waits until the queue is quiet at the present time. */
    void settle() {
        int rounds = 0;
        do {
            if (rounds++ == MAX_ROUNDS) {
                throw new AssertionError("A task plans itself again and again at %s".formatted(time().now()));
            }
            awaitQuiet();
        }
        while (this.parts.timers().runDue());
    }

    private void awaitQuiet() {
        String problem;
        try {
            problem = this.parts.quietDetector().awaitQuiet(this::loops, this.quietTimeout);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while handlers run", ex);
        }
        if (this.parts.log().isFull()) {
            throw new AssertionError(("There were %,d deliveries in one call, which is the limit; is a message sent "
                    + "again without delay?%n%s")
                .formatted(this.parts.log().limit(), this.parts.log().describe()));
        }
        if (problem != null) {
            throw new AssertionError(("Not all is quiet at %s: nothing has ended for %s.%n%n%s%nIf time should pass "
                    + "while a handler runs, call whileHandling(id).advance(...). If it only needs longer, set "
                    + "delayqueue.test.quiet-timeout.")
                .formatted(time().now(), seconds(this.quietTimeout), problem));
        }
    }

    private static String seconds(Duration limit) {
        return (limit.toMillis() % TimeUnit.SECONDS.toMillis(1) == 0) ? limit.toSeconds() + " s"
                : limit.toMillis() + " ms";
    }

    List<PollLoopStatus> loops() {
        List<PollLoopStatus> loops = new ArrayList<>();
        this.registry.listeners().forEach((listener) -> loops.addAll(listener.loops()));
        return loops;
    }

    /**
     * Begins a test: forgets whatever an earlier one has left behind. Time may go back,
     * so the listeners are restarted, as their clock must not.
     * @param millis the time at which it begins
     * @param clear empties the store meanwhile
     */
    void begin(long millis, Runnable clear) {
        this.parts.gate().close();
        this.parts.faults().clear();
        this.parts.log().clear();
        boolean abandoned = this.parts.quietDetector().abandon();
        boolean running = this.listeners.isRunning();
        if (running && abandoned) {
            // Does not wait for a handler that may never end.
            this.listeners.stop(() -> {
            });
        }
        else if (running) {
            this.listeners.stop();
        }
        time().set(millis);
        clear.run();
        if (running) {
            this.listeners.start();
            settle(); // Declared schedules are stored.
        }
    }

    /** Holds what the calls of a test share with the listeners. */
    record Parts(VirtualTime time, VirtualTimers timers, QuietDetector quietDetector, LocalWakeUps wakeUps,
            ClaimGate gate, DeliveryLog log, Faults faults) {

        Parts(VirtualTime time, int maxDeliveries) {
            this(time, new VirtualTimers(time), maxDeliveries);
        }

        private Parts(VirtualTime time, VirtualTimers timers, int maxDeliveries) {
            this(time, timers, new QuietDetector(time, timers), new LocalWakeUps(), new ClaimGate(),
                    new DeliveryLog(time, maxDeliveries), new Faults(time));
        }

    }

}
