package io.delayqueue.journal;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Queue;

import io.delayqueue.QueueName;

/**
 * Queues the requests of this node that wait for an earlier request of their id. Returns
 * the first one of each id alone, so an id with many requests does not delay those of
 * other ids.
 * <p>
 * <strong>Threads.</strong> Confined to that of the relay.
 */
final class RequestsBehind {

    /**
     * Maximum number of requests that are returned at once: half of a statement, so that
     * the other half is for new requests.
     */
    private static final int POLL_LIMIT = JournalTable.BATCH_LIMIT / 2;

    /** Maximum number of requests of one id; others are found by the search. */
    private static final int LIMIT_OF_ID = 1000;

    private static final Comparator<Submission> BY_REVISION = Comparator.comparingLong(Submission::revision);

    private final int limit;

    /** The requests of each id. The ids that were returned last are at the end. */
    private final Map<Key, Queue<Submission>> requests = new LinkedHashMap<>();

    private int size;

    /**
     * Creates an empty collection.
     * @param limit maximum number of requests
     */
    RequestsBehind(int limit) {
        this.limit = limit;
    }

    boolean isEmpty() {
        return this.requests.isEmpty();
    }

    /** Adds a request, or leaves it to a later search if there are too many. */
    void add(JournalRow row, Submission submission) {
        Key key = new Key(row.request().queue(), row.request().id());
        Queue<Submission> ofId = this.requests.get(key);
        if (this.size >= this.limit || ofId != null && ofId.size() >= LIMIT_OF_ID) {
            submission.leave();
            return;
        }
        // By revision: a transaction may commit after one that began later.
        this.requests.computeIfAbsent(key, (each) -> new PriorityQueue<>(BY_REVISION)).add(submission);
        this.size++;
    }

    /**
     * Removes and returns the first request of each id, and those after it while the
     * first ones are too old to be applied.
     * @param latest the time of the insert of the last request that is too old, in
     * nanoseconds of the monotonic clock
     */
    List<Submission> poll(long latest) {
        List<Submission> polled = new ArrayList<>();
        for (Key key : this.requests.keySet().stream().limit(POLL_LIMIT).toList()) {
            Queue<Submission> ofId = Objects.requireNonNull(this.requests.remove(key));
            boolean old = true;
            while (old && !ofId.isEmpty() && polled.size() < POLL_LIMIT) {
                Submission first = ofId.remove();
                old = first.insertedAt() - latest <= 0;
                polled.add(first);
            }
            if (!ofId.isEmpty()) {
                this.requests.put(key, ofId);
            }
        }
        this.size -= polled.size();
        return polled;
    }

    /** Leaves all requests to a later search. */
    void leaveAll() {
        this.requests.values().forEach((ofId) -> ofId.forEach(Submission::leave));
        this.requests.clear();
        this.size = 0;
    }

    private record Key(QueueName queue, String id) {
    }

}
