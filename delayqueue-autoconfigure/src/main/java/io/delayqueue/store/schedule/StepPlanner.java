package io.delayqueue.store.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleSupplier;

import io.delayqueue.store.MessageStore;

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
     * Returns the next steps of schedules, those of one schedule in their order. At most
     * {@link ScheduleStore#BATCH_LIMIT}, so occurrences may remain. Schedules that are
     * not readable are postponed.
     * @param due states of schedules that the store takes for due, by their names
     * @param now the time of the store
     * @param random returns numbers from 0 to 1; 0.5 for no jitter
     * @param problems receives the schedules that are not readable
     */
    public List<ScheduleStep> plan(Map<String, ScheduleState> due, Instant now, DoubleSupplier random,
            Problems problems) {
        Plan plan = new Plan(now, random);
        due.forEach((name, state) -> {
            if (plan.isFull()) {
                return;
            }
            try {
                plan.add(name, state);
            }
            catch (RuntimeException ex) {
                plan.steps.add(ScheduleStep.postpone(name, state));
                problems.unreadable(name, state, ex);
            }
        });
        return plan.steps;
    }

    /** Holds the steps of one call. */
    private final class Plan {

        private final List<ScheduleStep> steps = new ArrayList<>();

        private final Instant now;

        private final DoubleSupplier random;

        private int bytes;

        private int computed;

        Plan(Instant now, DoubleSupplier random) {
            this.now = now;
            this.random = random;
        }

        boolean isFull() {
            return this.steps.size() >= ScheduleStore.BATCH_LIMIT || this.bytes >= MessageStore.CONTENT_LIMIT
                    || this.computed >= MAX_COMPUTED;
        }

        /**
         * Adds the steps of a schedule. Postpones one that is not due by its state, as
         * another program must have changed its time.
         * @throws RuntimeException if it is not readable
         */
        void add(String name, ScheduleState state) {
            if (!state.isReadable()) {
                throw new IllegalArgumentException("its stored state is not readable");
            }
            OccurrenceDecider plan = new OccurrenceDecider(name, state, StepPlanner.this.codec,
                    StepPlanner.this.threshold, this.now);
            ScheduleStep step = plan.isDue(state.next()) ? plan.step(state, this.random)
                    : ScheduleStep.postpone(name, state);
            ScheduleState from = add(step, state);
            int before = this.computed;
            this.computed = before + plan.computed();
            while (plan.isDue(from.next()) && !step.isPostponement() && !isFull()) {
                step = plan.step(from, this.random);
                from = add(step, from);
                this.computed = before + plan.computed();
            }
        }

        private ScheduleState add(ScheduleStep step, ScheduleState from) {
            this.steps.add(step);
            if (step.occurrence() != null) {
                this.bytes += step.occurrence().message().envelope().length;
            }
            return (step.occurrence() != null) ? from.sent(step.to()) : from.skipped(step.to());
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
