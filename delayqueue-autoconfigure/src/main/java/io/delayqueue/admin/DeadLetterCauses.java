package io.delayqueue.admin;

import java.time.Instant;
import java.util.List;

import io.delayqueue.CauseGroup;

/**
 * Holds the latest dead letters of a queue, grouped by their causes.
 *
 * @param queue the queue
 * @param causes the groups, the largest first, at most {@value #MAX_GROUPS}
 * @param examined number of dead letters that were grouped, the latest ones
 * @param complete whether these are all dead letters of the queue, and all groups
 * @see DelayQueueInspector#deadLetterCauses
 */
public record DeadLetterCauses(String queue, List<Count> causes, long examined, boolean complete) {

    /** Maximum number of groups. */
    public static final int MAX_GROUPS = 100;

    /** About how many dead letters are grouped at most. */
    public static final int MAX_EXAMINED = 10_000;

    public DeadLetterCauses {
        causes = List.copyOf(causes);
    }

    /**
     * Holds the dead letters of one group.
     *
     * @param group the group
     * @param count number of dead letters
     * @param firstAt when the first of them was dead-lettered
     * @param lastAt when the last of them was dead-lettered
     * @param sampleId the id of the last dead letter
     */
    public record Count(CauseGroup group, long count, Instant firstAt, Instant lastAt, String sampleId) {
    }

}
