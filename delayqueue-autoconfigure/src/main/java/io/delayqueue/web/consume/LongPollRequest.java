package io.delayqueue.web.consume;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Represents a request that claims messages, and waits if there are none.
 * <p>
 * <strong>Threads.</strong> Any may complete the answer; all else is confined to the
 * polling thread.
 */
final class LongPollRequest {

    private final int limit;

    private final Duration lease;

    private final long deadline;

    private final Answering answer;

    /** The number of the last poll when it joined; only later ones count for it. */
    private long joined;

    /**
     * Creates a request.
     * @param limit most messages
     * @param lease the lease of the messages
     * @param deadline when to stop waiting, on the monotonic clock
     * @param leave releases its permit
     */
    LongPollRequest(int limit, Duration lease, long deadline, Runnable leave) {
        this.answer = new Answering(leave);
        this.limit = limit;
        this.lease = lease;
        this.deadline = deadline;
    }

    int limit() {
        return this.limit;
    }

    Duration lease() {
        return this.lease;
    }

    CompletableFuture<List<ClaimedDelivery>> answer() {
        return this.answer;
    }

    void join(long look) {
        this.joined = look;
    }

    /** Returns whether a poll that began after it joined has found nothing for it. */
    boolean isSeenBy(long look) {
        return look > this.joined;
    }

    boolean isOver(long now) {
        return now - this.deadline >= 0;
    }

    long left(long now) {
        return this.deadline - now;
    }

    /**
     * Releases the permit before it completes, so that the caller can claim again at
     * once.
     */
    private static final class Answering extends CompletableFuture<List<ClaimedDelivery>> {

        private final Runnable leave;

        private final AtomicBoolean left = new AtomicBoolean();

        Answering(Runnable leave) {
            this.leave = leave;
        }

        @Override
        public boolean complete(List<ClaimedDelivery> messages) {
            leave();
            return super.complete(messages);
        }

        @Override
        public boolean completeExceptionally(Throwable failure) {
            leave();
            return super.completeExceptionally(failure);
        }

        private void leave() {
            if (this.left.compareAndSet(false, true)) {
                this.leave.run();
            }
        }

    }

}
