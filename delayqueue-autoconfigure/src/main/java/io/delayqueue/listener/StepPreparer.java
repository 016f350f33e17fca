package io.delayqueue.listener;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.delayqueue.QueueName;
import io.delayqueue.listener.poll.LoopTimer;
import io.delayqueue.listener.poll.Nanos;
import io.delayqueue.store.schedule.FireResult;
import io.delayqueue.store.schedule.LocalSchedules;
import io.delayqueue.store.schedule.ScheduleState;
import io.delayqueue.store.schedule.ScheduleStep;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides the steps of the next call that fires the schedules of a queue: of those that
 * are due, or before their time of those that are due next, so that one call fires them.
 * <p>
 * <strong>Threads.</strong> That of the schedules.
 */
final class StepPreparer {

    private static final Logger logger = LoggerFactory.getLogger(StepPreparer.class);

    private final LocalSchedules schedules;

    private final QueueName queue;

    private final LoopTimer timer;

    /** The generations of schedules that were not readable, which was logged. */
    private final Map<String, Long> unreadable = new HashMap<>();

    private @Nullable Prepared prepared;

    StepPreparer(LocalSchedules schedules, QueueName queue, LoopTimer timer) {
        this.schedules = schedules;
        this.queue = queue;
        this.timer = timer;
    }

    /**
     * Decides about the schedules that are due.
     * @param answeredAt when the answer arrived, by the timer
     */
    void decide(FireResult firing, long answeredAt) {
        this.prepared = new Prepared(firing.due(), steps(firing.due(), firing.now()), answeredAt);
    }

    /**
     * Decides about the schedules that are due next, as at their time. Calls before that
     * time, because of changes, mostly return the same states.
     * @param answeredAt when the answer arrived, by the timer
     */
    void prepare(FireResult firing, long answeredAt) {
        Map<String, ScheduleState> states = firing.upcoming();
        if (states.isEmpty() || firing.nextAt() == null) {
            this.prepared = null;
            return;
        }
        Prepared present = this.prepared;
        List<ScheduleStep> steps = (present != null && present.states.equals(states)) ? present.steps
                : steps(states, firing.nextAt());
        this.prepared = new Prepared(states, steps,
                answeredAt + Nanos.of(Duration.between(firing.now(), firing.nextAt())));
    }

    private List<ScheduleStep> steps(Map<String, ScheduleState> states, Instant at) {
        return this.schedules.planner().plan(states, at, this.timer::random, this::unreadable);
    }

    private void unreadable(String name, ScheduleState state, RuntimeException cause) {
        if (!Objects.equals(this.unreadable.put(name, state.generation()), state.generation())) {
            logger.error(
                    "Schedule '{}' of queue '{}' does not fire, as it is not readable ({}). Put it again, or "
                            + "remove it; until then a node tries it each minute",
                    name, this.queue, cause.getMessage());
        }
    }

    /** Removes and returns the steps; none if those that are decided would be early. */
    List<ScheduleStep> take(long now) {
        Prepared present = this.prepared;
        if (present == null || now - present.at < 0) {
            return List.of();
        }
        this.prepared = null;
        return present.steps;
    }

    /** Logs it again if the schedule is not readable later. */
    void applied(String name) {
        this.unreadable.remove(name);
    }

    /**
     * Holds steps.
     *
     * @param states the states on which they are based
     * @param at when they are due, by the timer
     */
    private record Prepared(Map<String, ScheduleState> states, List<ScheduleStep> steps, long at) {
    }

}
