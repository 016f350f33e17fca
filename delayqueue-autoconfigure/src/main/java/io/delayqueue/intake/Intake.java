package io.delayqueue.intake;

import io.delayqueue.admin.NodeStatus.IntakeStatus;
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

    /**
     * Returns whether it was started, and not stopped since. If it does not run
     * nevertheless, it has ended because of a problem.
     */
    default boolean isStarted() {
        return isRunning();
    }

    /** Returns its status. May block while the client of the broker starts or stops. */
    default IntakeStatus status() {
        boolean running = isRunning();
        IntakeProblem problem = isStarted() ? problem() : null;
        IntakeScheduler scheduler = scheduler();
        return new IntakeStatus(scheduler.source(), scheduler.queue().value(), running,
                (problem != null && problem.isLasting()) ? problem.describe() : null,
                scheduler.count(IntakeOutcome.SCHEDULED), scheduler.count(IntakeOutcome.KEPT),
                scheduler.count(IntakeOutcome.SKIPPED), scheduler.count(IntakeOutcome.INVALID));
    }

}
