package io.delayqueue.benchmarks.runner.result;

import java.util.List;

/**
 * Describes the environment of a measure. All turns of a result have it in common.
 *
 * @param mode smoke, quick or full
 * @param rounds how often each cell is measured in a complete result
 * @param redis version, allocator, commit, build and CRC of Redis
 * @param redisFrom where its binary comes from
 * @param java version of the JVM
 * @param jvmFlags flags of every contender's JVM
 * @param machine operating system, cores, memory
 * @param clockOffsetMicros greatest difference seen between Redis' clock and the JVM's,
 * the round trip included
 */
public record Conditions(String mode, int rounds, String redis, String redisFrom, String java, List<String> jvmFlags,
        String machine, long clockOffsetMicros) {
}
