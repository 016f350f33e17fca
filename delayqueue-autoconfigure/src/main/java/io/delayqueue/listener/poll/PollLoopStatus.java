package io.delayqueue.listener.poll;

import java.time.Duration;

import io.delayqueue.store.Partition;

/**
 * Reports whether the loop of a partition has work, and how long ago it completed an
 * iteration, so that a health check detects a loop that hangs.
 *
 * @param partition the partition that it polls
 * @param sinceLastIteration time since its last iteration; an iteration runs at least
 * once per safety poll, even without free permits, while paused or while the store is
 * unavailable
 * @param safetyPoll longest time between two polls
 * @param idle whether no iteration is running or requested, and no call of it is pending
 * @param inFlight number of messages that it has claimed and that are not finished
 */
public record PollLoopStatus(Partition partition, Duration sinceLastIteration, Duration safetyPoll, boolean idle,
        int inFlight) {

    /** Tolerance for GC pauses and a busy machine. */
    private static final Duration TOLERANCE = Duration.ofSeconds(10);

    /** Returns whether its last iteration is recent enough. */
    public boolean isAlive() {
        return this.sinceLastIteration.compareTo(this.safetyPoll.multipliedBy(2).plus(TOLERANCE)) <= 0;
    }

}
