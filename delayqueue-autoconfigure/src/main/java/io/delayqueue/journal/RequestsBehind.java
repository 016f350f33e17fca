package io.delayqueue.journal;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Queue;

/**
 * Queues the requests of this node that wait for an earlier request of their id, also
 * those that it has claimed since another node left them behind. Returns the first one of
 * each id alone, so an id with many requests does not delay those of other ids.
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
    private final Map<Id, Queue<Submission>> requests = new LinkedHashMap<>();

    private int size;

    /**
     * Creates an empty collection.
     * @param limit maximum number of requests
     */
    RequestsBehind(int limit) {
        this.limit = limit;
    }

    int size() {
        return this.size;
    }

    boolean isEmpty() {
        return this.requests.isEmpty();
    }

    boolean contains(Id id) {
        return this.requests.containsKey(id);
    }

    /**
     * Returns whether requests of an id may be added that other nodes left behind, as
     * many as a search finds at once. At most half of the room is for requests of other
     * nodes.
     */
    boolean hasRoom(Id id) {
        Queue<Submission> ofId = this.requests.get(id);
        int present = (ofId != null) ? ofId.size() : 0;
        return this.size <= this.limit / 2 && present <= LIMIT_OF_ID - JournalTable.BATCH_LIMIT;
    }

    /** Adds a request, or leaves it to a later search if there are too many. */
    void add(Id id, Submission submission) {
        Queue<Submission> ofId = this.requests.get(id);
        if (this.size >= this.limit || ofId != null && ofId.size() >= LIMIT_OF_ID) {
            submission.leave();
            return;
        }
        // By revision: a transaction may commit after one that began later.
        this.requests.computeIfAbsent(id, (each) -> new PriorityQueue<>(BY_REVISION)).add(submission);
        this.size++;
    }

    /**
     * Removes a request that a search has found, as its claim has run out. Otherwise a
     * later {@link #poll} would return it as too old, and its new claim would end.
     */
    void remove(Id id, long revision) {
        Queue<Submission> ofId = this.requests.get(id);
        if (ofId == null) {
            return;
        }
        List<Submission> removed = ofId.stream().filter((each) -> each.revision() == revision).toList();
        ofId.removeAll(removed);
        removed.forEach(Submission::leave);
        this.size -= removed.size();
        if (ofId.isEmpty()) {
            this.requests.remove(id);
        }
    }

    /**
     * Removes and returns the first request of each id, and those after it while the
     * first ones are too old to be applied.
     * @param latest the time of the insert of the last request that is too old, in
     * nanoseconds of the monotonic clock
     */
    List<Submission> poll(long latest) {
        List<Submission> polled = new ArrayList<>();
        for (Id id : this.requests.keySet().stream().limit(POLL_LIMIT).toList()) {
            Queue<Submission> ofId = Objects.requireNonNull(this.requests.remove(id));
            boolean old = true;
            while (old && !ofId.isEmpty() && polled.size() < POLL_LIMIT) {
                Submission first = ofId.remove();
                old = first.insertedAt() - latest <= 0;
                polled.add(first);
            }
            if (!ofId.isEmpty()) {
                this.requests.put(id, ofId);
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

    /** Identifies a message in all queues. */
    record Id(String queue, String id) {

        static Id of(JournalRow row) {
            return new Id(row.request().queue().value(), row.request().id());
        }

    }

}
