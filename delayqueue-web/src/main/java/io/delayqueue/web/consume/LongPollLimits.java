package io.delayqueue.web.consume;

/**
 * Limits how many claims may wait at the same time in this process.
 *
 * @param all most in total
 * @param ofQueue most for one queue
 */
public record LongPollLimits(int all, int ofQueue) {
}
