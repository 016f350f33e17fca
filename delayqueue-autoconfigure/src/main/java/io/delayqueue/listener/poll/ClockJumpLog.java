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
 * Logs and counts jumps of the store's clock, which governs due times and leases. Reports
 * each jump once for all loops, although each loop detects it only at its next claim.
 * <p>
 * <strong>Threads.</strong> One instance for the process, called by all loops.
 */
public final class ClockJumpLog {

    private static final Logger logger = LoggerFactory.getLogger(ClockJumpLog.class);

    private static final int MAX_REPORTED = 16;

    private final AtomicLong count = new AtomicLong();

    /** The reported jumps, latest first; guarded by itself. */
    private final Deque<Sample> reported = new ArrayDeque<>();

    /** Returns how many jumps were detected. */
    public long count() {
        return this.count.get();
    }

    /**
     * Records a jump, and logs it if it was not reported before.
     * @param log runs the task that writes a log line
     */
    void jumped(Partition partition, Sample sample, Executor log) {
        ClockJumpDetector.Jump jump = sample.jump();
        if (!isNews(sample)) {
            logger.debug("The clock of queue '{}' has jumped by {} to {}", partition, jump.least(), jump.most());
            return;
        }
        this.count.incrementAndGet();
        log.execute(() -> logger.warn(
                "The store's clock, which queue '{}' uses, has jumped {} by {} to {}, as measured by the "
                        + "monotonic clock of this machine: it was set, another server with another clock has taken "
                        + "over, or this machine was suspended. {}",
                partition, jump.isForward() ? "forward" : "back", text(jump, true), text(jump, false),
                jump.isForward() ? "Messages are due earlier by that, and leases end earlier: some may be handled again"
                        : "Messages are due later by that, and those of nodes that die come back later"));
    }

    /**
     * Returns whether the jump is new: it does not equal the sum of the latest jumps that
     * were reported since this loop's previous observation.
     */
    private boolean isNews(Sample sample) {
        synchronized (this.reported) {
            ClockJumpDetector.Jump sum = null;
            for (Sample other : this.reported) {
                if (other.at() - sample.since() <= 0) {
                    break;
                }
                sum = (sum != null) ? sum.plus(other.jump()) : other.jump();
                if (sum.mayBe(sample.jump())) {
                    return false;
                }
            }
            this.reported.addFirst(sample);
            if (this.reported.size() > MAX_REPORTED) {
                this.reported.removeLast();
            }
            return true;
        }
    }

    private static String text(ClockJumpDetector.Jump jump, boolean smaller) {
        Duration bound = ((jump.isForward() == smaller) ? jump.least() : jump.most()).abs();
        return Texts.span(Duration.ofMillis(bound.toMillis()));
    }

    /**
     * Holds a jump as one loop observed it, and the times of this observation and of the
     * loop's previous one, by the monotonic clock.
     */
    record Sample(ClockJumpDetector.Jump jump, long since, long at) {
    }

}
