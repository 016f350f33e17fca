package io.delayqueue.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.OptionalLong;
import java.util.stream.LongStream;

import io.delayqueue.store.DueTime;
import org.jspecify.annotations.Nullable;

/**
 * Converts the store's time, in microseconds since the epoch, to milliseconds and back.
 * Rounds due times up and the times that they are compared with down, so that nothing is
 * early.
 */
final class Micros {

    private static final long MILLI = 1_000;

    private Micros() {
    }

    static long ceilToMillis(long micros) {
        return -Math.floorDiv(-micros, MILLI);
    }

    static long floorToMillis(long micros) {
        return Math.floorDiv(micros, MILLI);
    }

    static long of(Duration span) {
        return DueTime.ceilToMillis(span) * MILLI;
    }

    static Instant toInstant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    /** Returns the earliest of these milliseconds; {@code null} if there are none. */
    static @Nullable Instant earliest(LongStream some, LongStream others) {
        OptionalLong first = LongStream.concat(some, others).min();
        return first.isPresent() ? Instant.ofEpochMilli(first.getAsLong()) : null;
    }

}
