package io.delayqueue.web.consume;

/**
 * How many claims may wait at the same time in this process.
 *
 * @param all most of them
 * @param ofQueue most for one queue
 */
public record WaitLimits(int all, int ofQueue) {
}
