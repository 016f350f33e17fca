package io.delayqueue.intake;

import java.time.Duration;

/**
 * Describes why an intake schedules nothing at the moment.
 *
 * @param text the reason, for operators
 * @param age for how long
 */
public record IntakeProblem(String text, Duration age) {
}
