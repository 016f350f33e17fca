package io.delayqueue.redis.script;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

import io.delayqueue.store.Texts;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs calls that Redis answered late but before their time limit, at most once a minute:
 * such calls do not fail, and the log explains why messages were late.
 * <p>
 * <strong>Threads.</strong> Any.
 */
public final class SlowCallLog {

    public static final Duration LATE = Duration.ofSeconds(1);

    private static final Logger logger = LoggerFactory.getLogger(SlowCallLog.class);

    private static final long PERIOD = Duration.ofMinutes(1).toNanos();

    private final long late;

    private final LongSupplier nanoTime;

    private final Executor log;

    /** Guarded by this object, like the fields below. */
    private boolean logged;

    private long loggedAt;

    private long others;

    /**
     * Creates a log without late calls.
     * @param late from which duration a call is late
     * @param nanoTime the monotonic clock
     * @param log runs the task that writes a line
     */
    public SlowCallLog(Duration late, LongSupplier nanoTime, Executor log) {
        this.late = late.toNanos();
        this.nanoTime = nanoTime;
        this.log = log;
    }

    long now() {
        return this.nanoTime.getAsLong();
    }

    /** Records how long an answered call took. */
    void answered(String script, long nanos) {
        if (nanos < this.late) {
            return;
        }
        long before;
        synchronized (this) {
            long now = now();
            if (this.logged && now - this.loggedAt < PERIOD) {
                this.others++;
                return;
            }
            this.logged = true;
            this.loggedAt = now;
            before = this.others;
            this.others = 0;
        }
        String more = (before > 0) ? "; so did " + Texts.count(before, "other call") + " since this was last logged"
                : "";
        this.log.execute(() -> logger.warn(
                "Redis took {} to answer '{}'{}. It was busy or stalled, or the network or this process was; messages "
                        + "may be late. Further ones are summed up once a minute",
                Texts.span(Duration.ofMillis(nanos / 1_000_000)), script, more));
    }

}
