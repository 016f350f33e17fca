package io.delayqueue.web.consume;

/**
 * Holds the numbers that a {@link ClaimLimiter} enforces: claims at the same time in this
 * process.
 *
 * @param max maximum number in total
 * @param maxPerQueue maximum number for one queue
 */
public record ClaimLimits(int max, int maxPerQueue) {
}
