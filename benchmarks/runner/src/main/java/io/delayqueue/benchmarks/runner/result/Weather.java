package io.delayqueue.benchmarks.runner.result;

/**
 * Holds the other load of the machine during a cell.
 *
 * @param stealPercent share of the cores' time that the hypervisor gave to others
 * @param idlePercent share of the cores' time that was idle
 * @param load load average of the last minute, at the end
 * @param at when it ended, UTC
 */
public record Weather(double stealPercent, double idlePercent, double load, String at) {
}
