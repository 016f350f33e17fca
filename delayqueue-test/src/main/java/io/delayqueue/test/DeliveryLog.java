package io.delayqueue.test;

import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

import io.delayqueue.store.ClaimedMessage;
import org.jspecify.annotations.Nullable;

/**
 * Records the deliveries of the present call of the tester, and limits their number.
 * <p>
 * <strong>Threads.</strong> Loops and handlers add; the test reads.
 */
final class DeliveryLog {

    private final VirtualTime time;

    private final int limit;

    /** The deliveries that have ended, by their numbers. */
    private final NavigableMap<Long, TestDelivery> ended = new TreeMap<>();

    private long numbers;

    private final Map<String, Integer> begunByQueue = new HashMap<>();

    private int begun;

    DeliveryLog(VirtualTime time, int limit) {
        this.time = time;
        this.limit = limit;
    }

    /** Counts a message that is handed to a listener, and returns its number. */
    synchronized long begun(String queue) {
        this.begun++;
        this.begunByQueue.merge(queue, 1, Integer::sum);
        return this.numbers++;
    }

    /** Records how a delivery ended. */
    synchronized void ended(long number, ClaimedMessage message, DeliveryOutcome outcome, @Nullable String cause) {
        String queue = message.lease().queue().value();
        this.ended.put(number,
                new TestDelivery(queue, message.lease().id(), message.failures() + 1, this.time.now(), outcome, cause));
    }

    /** Records that a message was not handed to a listener, and never will be. */
    synchronized void removed(String queue, @Nullable String id, DeliveryOutcome outcome, @Nullable String cause) {
        this.ended.put(this.numbers++, new TestDelivery(queue, id, 0, this.time.now(), outcome, cause));
    }

    /** Returns whether the limit of deliveries in one call is reached. */
    synchronized boolean isFull() {
        return this.begun >= this.limit;
    }

    int limit() {
        return this.limit;
    }

    /** Returns the numbers of the deliveries that have ended. */
    synchronized Set<Long> ended() {
        return Set.copyOf(this.ended.keySet());
    }

    /** Returns the deliveries that have ended, but those with some numbers. */
    synchronized Deliveries without(Set<Long> numbers) {
        return new Deliveries(this.ended.entrySet()
            .stream()
            .filter((entry) -> !numbers.contains(entry.getKey()))
            .map(Map.Entry::getValue)
            .toList());
    }

    /** Describes which queues the deliveries belong to. */
    synchronized String describe() {
        StringBuilder text = new StringBuilder();
        this.begunByQueue
            .forEach((queue, messages) -> text.append("  queue '%s' had %d of them%n".formatted(queue, messages)));
        return text.toString();
    }

    /** Begins to count for another call. */
    synchronized void restart() {
        this.begunByQueue.clear();
        this.begun = 0;
    }

    /** Forgets what has ended. */
    synchronized void clear() {
        this.ended.clear();
    }

}
