package io.delayqueue.web.consume;

/**
 * Limits how many claims may wait at the same time in this process.
 *
 * @param max maximum number in total
 * @param maxPerQueue maximum number for one queue
 */
public record LongPollLimits(int max, int maxPerQueue) {
}
