package io.delayqueue.benchmarks.runner.result;

import org.jspecify.annotations.Nullable;

/**
 * Holds the other load of the machine during a cell.
 *
 * @param stealPercent share of the cores' time that the hypervisor gave to others
 * @param otherPercent share of the cores' time that processes other than those of the
 * benchmark used; {@code null} in results that are older than this field
 * @param idlePercent share of the cores' time that was idle
 * @param load load average of the last minute, at the end
 * @param at when it ended, UTC
 */
public record Weather(double stealPercent, @Nullable Double otherPercent, double idlePercent, double load, String at) {
}
