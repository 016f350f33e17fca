package io.delayqueue.listener.poll;

import java.time.Duration;

import io.delayqueue.store.Partition;

/**
 * How a loop that looks into a partition is.
 *
 * @param partition what it looks into
 * @param silence since it was last at work; it is so at least once in each safety poll,
 * whether or not it has room, and also while it is paused or the store is away
 * @param safetyPoll longest time between two looks
 */
public record PollLoopStatus(Partition partition, Duration silence, Duration safetyPoll) {

    /** What a machine that is busy, or collects garbage, may take longer. */
    private static final Duration MERCY = Duration.ofSeconds(10);

    /** Whether it works as it should. */
    public boolean isAlive() {
        return this.silence.compareTo(this.safetyPoll.multipliedBy(2).plus(MERCY)) <= 0;
    }

}
