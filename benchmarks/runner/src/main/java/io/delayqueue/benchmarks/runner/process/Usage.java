package io.delayqueue.benchmarks.runner.process;

import io.delayqueue.benchmarks.runner.result.Weather;

/**
 * Holds the resources used between two moments.
 *
 * @param wallNanos time that passed
 * @param redisMicros CPU of Redis
 * @param jvmMicros CPU of the contender's JVMs
 * @param commands commands that Redis counted, those inside scripts included
 * @param scripts script calls among them
 * @param compilingNanos time of the compiler threads of the contender's JVMs
 * @param weather what else the machine did
 */
public record Usage(long wallNanos, double redisMicros, double jvmMicros, long commands, long scripts,
        long compilingNanos, Weather weather) {

    /** Returns the time of the compiler threads in percent of the time that passed. */
    public double compilingPercent() {
        return 100.0 * this.compilingNanos / this.wallNanos;
    }

    public double seconds() {
        return this.wallNanos / 1e9;
    }

}
