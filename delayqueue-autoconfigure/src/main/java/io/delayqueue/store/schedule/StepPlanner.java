package io.delayqueue.store.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.function.DoubleSupplier;

import io.delayqueue.store.MessageStore;
import org.jspecify.annotations.Nullable;

/**
 * Computes the steps of one call from the states of several schedules. Does not call the
 * store: the steps depend on these states, their time, the misfire threshold and the
 * random jitter alone. Thread-safe.
 */
public final class StepPlanner {

    /**
     * How many times a call computes before it leaves the rest to the next one; the step
     * that reaches this ends, so it computes a few thousand more.
     */
    static final int MAX_COMPUTED = 20_000;

    private final DefinitionCodec codec;

    private final long threshold;

    /**
     * Creates a planner.
     * @param misfireThreshold the lateness from which on an occurrence counts as missed
     */
    public StepPlanner(DefinitionCodec codec, Duration misfireThreshold) {
        this.codec = codec;
        this.threshold = misfireThreshold.toMillis();
    }

    /**
     * Returns the next steps of schedules, one of each in turn, those of one schedule in
     * their order. At most {@link ScheduleStore#BATCH_LIMIT}, so occurrences may remain.
     * Schedules that are not readable are postponed.
     * @param due states of schedules that the store takes for due, by their names
     * @param now the time of the store
     * @param random returns numbers from 0 to 1; 0.5 for no jitter
     * @param problems receives the schedules that are not readable
     */
    public List<ScheduleStep> plan(Map<String, ScheduleState> due, Instant now, DoubleSupplier random,
            Problems problems) {
        Plan plan = new Plan(now, random, due.size());
        Queue<Progress> waiting = new ArrayDeque<>();
        due.forEach((name, state) -> waiting.add(new Progress(name, state)));
        for (Progress next = waiting.poll(); next != null && !plan.isFull(); next = waiting.poll()) {
            try {
                if (plan.addStep(next)) {
                    waiting.add(next);
                }
            }
            catch (RuntimeException ex) {
                plan.steps.add(ScheduleStep.postpone(next.name, next.state));
                problems.unreadable(next.name, next.state, ex);
            }
        }
        return plan.steps;
    }

    /** Holds the state of a schedule after the steps that are planned. */
    private static final class Progress {

        private final String name;

        private ScheduleState state;

        private @Nullable OccurrenceDecider decider;

        Progress(String name, ScheduleState state) {
            this.name = name;
            this.state = state;
        }

    }

    /** Holds the steps of one call. */
    private final class Plan {

        /** Skipping an occurrence computes up to three times, and a few more before. */
        private static final int TIMES_OF_A_SKIP = 4;

        private final List<ScheduleStep> steps = new ArrayList<>();

        private final Instant now;

        private final DoubleSupplier random;

        /**
         * Maximum number of occurrences that one step passes, so that a schedule that was
         * missed for long leaves a step to each other one.
         */
        private final int most;

        private int bytes;

        private int computed;

        Plan(Instant now, DoubleSupplier random, int schedules) {
            this.now = now;
            this.random = random;
            this.most = Math.max(1,
                    Math.min(MAX_COMPUTED / TIMES_OF_A_SKIP / Math.max(1, schedules), OccurrenceDecider.MAX_PASSED));
        }

        boolean isFull() {
            return this.steps.size() >= ScheduleStore.BATCH_LIMIT || this.bytes >= MessageStore.CONTENT_LIMIT
                    || this.computed >= MAX_COMPUTED;
        }

        /**
         * Adds the next step of a schedule. Postpones one that is not due by its state,
         * as another program must have changed its time.
         * @return whether the schedule has more steps
         * @throws RuntimeException if it is not readable
         */
        boolean addStep(Progress schedule) {
            if (!schedule.state.isReadable()) {
                throw new IllegalArgumentException("its stored state is not readable");
            }
            OccurrenceDecider decider = decider(schedule);
            int before = decider.computed();
            ScheduleStep step = decider.isDue(schedule.state.next()) ? decider.step(schedule.state, this.most)
                    : ScheduleStep.postpone(schedule.name, schedule.state);
            this.computed += decider.computed() - before;
            this.steps.add(step);
            if (step.isPostponement()) {
                return false;
            }
            if (step.occurrence() != null) {
                this.bytes += step.occurrence().message().envelope().length;
            }
            schedule.state = (step.occurrence() != null) ? schedule.state.sent(step.to())
                    : schedule.state.skipped(step.to());
            return decider.isDue(schedule.state.next());
        }

        private OccurrenceDecider decider(Progress schedule) {
            OccurrenceDecider decider = schedule.decider;
            if (decider == null) {
                decider = new OccurrenceDecider(schedule.name, schedule.state, StepPlanner.this.codec,
                        StepPlanner.this.threshold, this.now, this.random);
                schedule.decider = decider;
            }
            return decider;
        }

    }

    /** Receives the schedules that are not readable. */
    @FunctionalInterface
    public interface Problems {

        /** Ignores them. */
        Problems IGNORED = (name, state, cause) -> {
        };

        /** Is called for a schedule that was postponed, as it is not readable. */
        void unreadable(String name, ScheduleState state, RuntimeException cause);

    }

}
