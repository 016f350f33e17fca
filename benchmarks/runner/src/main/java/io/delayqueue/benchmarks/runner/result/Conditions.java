package io.delayqueue.benchmarks.runner.result;

import java.util.List;

/**
 * Under what a measure was taken.
 *
 * @param mode smoke, quick or full
 * @param rounds how often each cell was measured
 * @param date when it began, UTC
 * @param seconds how long all of it took
 * @param commit the library's commit
 * @param dirty whether the working tree differed from it
 * @param redis version and allocator of Redis
 * @param redisFrom where its binary comes from
 * @param java version of the JVM
 * @param jvmFlags flags of every contender's JVM
 * @param machine operating system, cores, memory
 * @param clockOffsetMicros greatest difference seen between Redis' clock and the JVM's,
 * the round trip included
 */
public record Conditions(String mode, int rounds, String date, long seconds, String commit, boolean dirty, String redis,
        String redisFrom, String java, List<String> jvmFlags, String machine, long clockOffsetMicros) {
}
