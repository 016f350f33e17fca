package io.delayqueue.store.schedule;

import io.delayqueue.ScheduleDefinition;

/**
 * Holds a position in the list of schedules.
 *
 * @param next the next nominal time of the last schedule before it, ms;
 * {@link ScheduleState#NONE} if it has none
 * @param name its name
 */
public record ScheduleCursor(long next, String name) {

    /** Score of a schedule that has no next time: later than any. */
    public static final long NEVER = 9_000_000_000_000_000L;

    /** Returns the position of a schedule. */
    public static ScheduleCursor of(String name, ScheduleState state) {
        return new ScheduleCursor(state.next(), name);
    }

    /** Returns the position of a schedule with a score. */
    public static ScheduleCursor ofScore(String name, long score) {
        return new ScheduleCursor((score == NEVER) ? ScheduleState.NONE : score, name);
    }

    /**
     * Parses the result of {@link #text()}.
     * @throws IllegalArgumentException if it is not valid
     */
    public static ScheduleCursor parse(String text) {
        int separator = text.indexOf('@');
        try {
            return new ScheduleCursor(Long.parseLong(text.substring(0, Math.max(separator, 0))),
                    ScheduleDefinition.requireName(text.substring(separator + 1)));
        }
        catch (IllegalArgumentException ex) {
            throw new IllegalArgumentException("The cursor is not valid: use the one that the previous page has");
        }
    }

    /** Returns the text that callers pass on. */
    public String text() {
        return this.next + "@" + this.name;
    }

    /** Returns the score by which schedules are ordered. */
    public static long score(long next) {
        return (next == ScheduleState.NONE) ? NEVER : next;
    }

    /** Returns the score of this position. */
    public long score() {
        return score(this.next);
    }

}
