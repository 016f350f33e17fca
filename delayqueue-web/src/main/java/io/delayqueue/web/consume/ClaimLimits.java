package io.delayqueue.web.consume;

/**
 * Holds the maximum number of claims that a {@link ClaimLimiter} permits at a time, in
 * total and per queue.
 *
 * @param max maximum number in total
 * @param maxPerQueue maximum number for one queue
 */
public record ClaimLimits(int max, int maxPerQueue) {
}
