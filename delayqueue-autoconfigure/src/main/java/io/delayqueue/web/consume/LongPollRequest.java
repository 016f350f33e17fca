package io.delayqueue.web.consume;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A request that claims messages, and waits if there are none.
 * <p>
 * <strong>Threads.</strong> The answer may be completed by any; all else is the line's.
 */
final class LongPollRequest {

    private final int limit;

    private final Duration lease;

    private final long deadline;

    private final Answering answer;

    /** The number of the look that it has waited for; a later one has seen all of it. */
    private long joined;

    /**
     * A poll.
     * @param limit most messages
     * @param lease how long they shall be the caller's
     * @param deadline until when to wait, on the monotonic clock
     * @param leave gives its place to another
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

    /** Whether a look that began after it joined has found nothing for it. */
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
     * The place is free before anybody hears of the answer, so that who claims again at
     * once finds it.
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
