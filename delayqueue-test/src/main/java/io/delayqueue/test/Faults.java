package io.delayqueue.test;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import io.delayqueue.DelayQueueException.Effect;
import org.jspecify.annotations.Nullable;

/**
 * Holds the faults that a test has asked for, until they happen or the test ends.
 * <p>
 * <strong>Threads.</strong> The test adds; handler threads and senders take.
 */
final class Faults {

    private final VirtualTime time;

    private final Map<String, Deque<Throwable>> failures = new HashMap<>();

    private final Set<String> crashes = new HashSet<>();

    private final Set<String> losses = new HashSet<>();

    private final Deque<Effect> sends = new ArrayDeque<>();

    private long awayUntil = Long.MIN_VALUE;

    private volatile boolean twice;

    Faults(VirtualTime time) {
        this.time = time;
    }

    /** Makes the next handler of a queue fail, without being called. */
    synchronized void failNext(String queue, Throwable failure) {
        this.failures.computeIfAbsent(queue, (key) -> new ArrayDeque<>()).add(failure);
    }

    synchronized @Nullable Throwable takeFailure(String queue) {
        Deque<Throwable> next = this.failures.get(queue);
        return (next != null) ? next.poll() : null;
    }

    /** Makes the outcome of the next delivery of a message vanish with its process. */
    synchronized void crashDuring(String id) {
        this.crashes.add(id);
    }

    synchronized boolean takeCrash(String id) {
        return this.crashes.remove(id);
    }

    /** Makes the next delivery of a message lose its lease. */
    synchronized void loseLease(String id) {
        this.losses.add(id);
    }

    synchronized boolean takeLoss(String id) {
        return this.losses.remove(id);
    }

    /** Makes the next send fail with an effect. */
    synchronized void failNextSend(Effect effect) {
        this.sends.add(effect);
    }

    synchronized @Nullable Effect takeSend() {
        return this.sends.poll();
    }

    /** Makes all calls of the store fail for a time. */
    synchronized void away(long millis) {
        this.awayUntil = this.time.millis() + millis;
    }

    synchronized boolean isAway() {
        return this.time.millis() < this.awayUntil;
    }

    /** Sets whether every message is delivered twice. */
    void deliverTwice(boolean twice) {
        this.twice = twice;
    }

    boolean deliversTwice() {
        return this.twice;
    }

    /** Forgets all faults. */
    synchronized void clear() {
        this.failures.clear();
        this.crashes.clear();
        this.losses.clear();
        this.sends.clear();
        this.awayUntil = Long.MIN_VALUE;
        this.twice = false;
    }

}
