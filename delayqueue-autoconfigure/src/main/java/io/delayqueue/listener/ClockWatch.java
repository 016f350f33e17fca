package io.delayqueue.listener;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

import io.delayqueue.engine.Partition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of jumps of the store's clock, by which due times and leases go: once for all
 * loops, which notice the same one at their next looks.
 * <p>
 * <strong>Threads.</strong> One for the whole process, called by all loops.
 */
final class ClockWatch {

    private static final Logger logger = LoggerFactory.getLogger(ClockWatch.class);

    /** Within this, jumps of one amount are one jump. */
    private static final long LOOKS = Nanos.of(Duration.ofMinutes(1));

    private final LongSupplier nanoTime;

    private final AtomicLong count = new AtomicLong();

    private final AtomicReference<@Nullable Told> last = new AtomicReference<>();

    ClockWatch(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** How many there were. */
    long count() {
        return this.count.get();
    }

    void jumped(Partition partition, StoreClock.Jump jump) {
        long now = this.nanoTime.getAsLong();
        Told before = this.last.get();
        boolean news = before == null || now - before.at() > LOOKS || !before.jump().mayBe(jump);
        if (!news || !this.last.compareAndSet(before, new Told(jump, now))) {
            logger.debug("The clock of queue '{}' has jumped by {} to {}", partition, jump.least(), jump.most());
            return;
        }
        this.count.incrementAndGet();
        logger.warn(
                "The store's clock, which queue '{}' goes by, has jumped {} by {} to {} ms, as measured by the "
                        + "monotonic clock of this machine: it was set, another server with another clock has taken "
                        + "over, or this machine was suspended. {}",
                partition, jump.isForward() ? "forward" : "back", millis(jump, true), millis(jump, false),
                jump.isForward() ? "Messages are due earlier by that, and leases end earlier: some are handled again"
                        : "Messages are due later by that, and those of nodes that die come back later");
    }

    private static long millis(StoreClock.Jump jump, boolean smaller) {
        return ((jump.isForward() == smaller) ? jump.least() : jump.most()).abs().toMillis();
    }

    private record Told(StoreClock.Jump jump, long at) {
    }

}
