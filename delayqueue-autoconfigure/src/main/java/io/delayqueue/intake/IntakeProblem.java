package io.delayqueue.intake;

import java.time.Duration;

import io.delayqueue.store.Texts;

/**
 * Describes why an intake schedules nothing at the moment.
 *
 * @param text the reason, for operators
 * @param age for how long
 */
public record IntakeProblem(String text, Duration age) {

    /** Shorter ones need no attention. */
    private static final Duration TOLERANCE = Duration.ofSeconds(10);

    private static final int MAX_LENGTH = 300;

    /** Returns whether it has lasted long enough to need attention. */
    public boolean isLasting() {
        return this.age.compareTo(TOLERANCE) > 0;
    }

    /** Returns the reason and the time, in one line of limited length. */
    public String describe() {
        return "nothing has been scheduled for %s: %s".formatted(Texts.span(this.age),
                Texts.line(this.text, MAX_LENGTH));
    }

}
