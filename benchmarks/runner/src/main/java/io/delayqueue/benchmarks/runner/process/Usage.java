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
 * @param weather what else the machine did
 */
public record Usage(long wallNanos, double redisMicros, double jvmMicros, long commands, long scripts,
        Weather weather) {

    public double seconds() {
        return this.wallNanos / 1e9;
    }

}
