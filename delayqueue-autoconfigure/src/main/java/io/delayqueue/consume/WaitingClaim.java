package io.delayqueue.consume;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Represents a caller that claims messages and, if there are none, waits. Several polls
 * may serve it.
 * <p>
 * <strong>Threads.</strong> Any may complete the answer; all else is confined to the
 * {@link PollerExecutor}.
 *
 * @param <M> the form in which the caller gets a message
 */
public final class WaitingClaim<M> {

    private final int limit;

    private final Duration lease;

    private final long deadline;

    private final CompletableFuture<List<M>> answer;

    /** The number of the last poll when it joined; only later ones count for it. */
    private long joined;

    /**
     * Creates a request.
     * @param limit most messages
     * @param lease the lease of the messages
     * @param deadline when to stop waiting, on the monotonic clock
     * @param answer completes with the messages, none if there were none in time;
     * completing it from outside ends the wait
     */
    public WaitingClaim(int limit, Duration lease, long deadline, CompletableFuture<List<M>> answer) {
        this.limit = limit;
        this.lease = lease;
        this.deadline = deadline;
        this.answer = answer;
    }

    int limit() {
        return this.limit;
    }

    Duration lease() {
        return this.lease;
    }

    public CompletableFuture<List<M>> answer() {
        return this.answer;
    }

    void join(long poll) {
        this.joined = poll;
    }

    /** Returns whether this poll began after it joined. */
    boolean isSeenBy(long poll) {
        return poll > this.joined;
    }

    long left(long now) {
        return this.deadline - now;
    }

}
