package io.delayqueue.intake;

import org.jspecify.annotations.Nullable;

import org.springframework.context.SmartLifecycle;

/**
 * Reads delayed messages from one topic or queue of a broker, and schedules them.
 */
public interface Intake extends SmartLifecycle {

    /** Returns the part that schedules, which counts the messages. */
    IntakeScheduler scheduler();

    /**
     * Returns why it schedules nothing although it has been started; {@code null} if it
     * works, as far as known. Does not block.
     */
    @Nullable IntakeProblem problem();

}
