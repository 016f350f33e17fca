package io.delayqueue.benchmarks.contender;

import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * The clock of the machine, which is also that of Redis: both run on the same machine,
 * and the runner checks it.
 */
public final class Wall {

    private Wall() {
    }

    /** Microseconds since 1970. */
    public static long micros() {
        Instant now = Instant.now();
        return TimeUnit.SECONDS.toMicros(now.getEpochSecond()) + now.getNano() / 1000;
    }

}
