package io.delayqueue.store.schedule;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Holds the result of {@link ScheduleStore#fire}.
 *
 * @param now the time of the store
 * @param nextAt the earliest next nominal time of all schedules; {@code null} if there is
 * none
 * @param firingNode the node that fires first; {@code null} if there is none
 * @param firedAt when that node last applied a step; {@code null} if it has not
 * @param count how many schedules the queue has
 * @param outcomes the results of the steps, in their order
 * @param due schedules that are due after the steps, by their names, the one that has
 * been due for longest first
 * @param upcoming if none is due, the schedules of {@code nextAt}, by their names; empty
 * for a caller that does not fire the queue, or while another node fires first
 */
public record FireResult(Instant now, @Nullable Instant nextAt, @Nullable String firingNode, @Nullable Instant firedAt,
        long count, List<StepOutcome> outcomes, Map<String, ScheduleState> due, Map<String, ScheduleState> upcoming) {

    /**
     * Returns whether a call at once would probably get the same answer: no step had an
     * effect, or nothing is due though a time has come.
     * @param steps whether the call had steps
     */
    public boolean isWithoutProgress(boolean steps) {
        if (this.due.isEmpty()) {
            return this.nextAt != null && !this.nextAt.isAfter(this.now);
        }
        return steps && this.outcomes.stream()
            .noneMatch((outcome) -> outcome.isApplied() || outcome.equals(StepOutcome.POSTPONED));
    }

    /** Returns this result of a call without the last steps, which had no effect. */
    public FireResult followedByStale(int steps) {
        if (steps == 0) {
            return this;
        }
        List<StepOutcome> all = new ArrayList<>(this.outcomes);
        all.addAll(Collections.nCopies(steps, StepOutcome.STALE));
        return new FireResult(this.now, this.nextAt, this.firingNode, this.firedAt, this.count, List.copyOf(all),
                this.due, this.upcoming);
    }

}
