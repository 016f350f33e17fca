package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.store.Partition;
import io.delayqueue.store.Texts;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of jumps of the store's clock, by which due times and leases go: once for all
 * loops, which notice the same one at their next looks, however much later those are.
 * <p>
 * <strong>Threads.</strong> One for the whole process, called by all loops.
 */
public final class ClockJumpDetector {

    private static final Logger logger = LoggerFactory.getLogger(ClockJumpDetector.class);

    /** Nobody knows of more jumps between two looks. */
    private static final int MOST_KEPT = 16;

    private final AtomicLong count = new AtomicLong();

    /** Those that were told, the last first; guarded by itself. */
    private final Deque<Sight> told = new ArrayDeque<>();

    /** How many there were. */
    public long count() {
        return this.count.get();
    }

    /**
     * Takes notice of a jump.
     * @param log runs what writes a line
     */
    void jumped(Partition partition, Sight sight, Executor log) {
        StoreClock.Jump jump = sight.jump();
        if (!isNews(sight)) {
            logger.debug("The clock of queue '{}' has jumped by {} to {}", partition, jump.least(), jump.most());
            return;
        }
        this.count.incrementAndGet();
        log.execute(() -> logger.warn(
                "The store's clock, which queue '{}' goes by, has jumped {} by {} to {}, as measured by the "
                        + "monotonic clock of this machine: it was set, another server with another clock has taken "
                        + "over, or this machine was suspended. {}",
                partition, jump.isForward() ? "forward" : "back", text(jump, true), text(jump, false),
                jump.isForward() ? "Messages are due earlier by that, and leases end earlier: some may be handled again"
                        : "Messages are due later by that, and those of nodes that die come back later"));
    }

    /**
     * Whether it is not the last that were told, taken together, of those which were seen
     * since this loop looked before.
     */
    private boolean isNews(Sight sight) {
        synchronized (this.told) {
            StoreClock.Jump sum = null;
            for (Sight other : this.told) {
                if (other.at() - sight.since() <= 0) {
                    break;
                }
                sum = (sum != null) ? sum.plus(other.jump()) : other.jump();
                if (sum.mayBe(sight.jump())) {
                    return false;
                }
            }
            this.told.addFirst(sight);
            if (this.told.size() > MOST_KEPT) {
                this.told.removeLast();
            }
            return true;
        }
    }

    private static String text(StoreClock.Jump jump, boolean smaller) {
        Duration bound = ((jump.isForward() == smaller) ? jump.least() : jump.most()).abs();
        return Texts.span(Duration.ofMillis(bound.toMillis()));
    }

    /**
     * What one loop saw.
     *
     * @param jump by how much
     * @param since no jump after this had been seen by it, by the monotonic clock
     * @param at when it saw the jump
     */
    record Sight(StoreClock.Jump jump, long since, long at) {
    }

}
