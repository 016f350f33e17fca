package io.delayqueue.store.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleSupplier;

import io.delayqueue.store.MessageStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides about the due occurrences of schedules: which are sent, and which are skipped
 * for which reason. Calls nothing, so a decision depends only on the state that was read
 * and its time. Thread-safe.
 */
public final class StepPlanner {

    private static final Logger logger = LoggerFactory.getLogger(StepPlanner.class);

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
     * {@link ScheduleStore#BATCH_LIMIT}, so occurrences may remain.
     * @param due states of schedules, by their names
     * @param now the time of the store
     * @param random returns numbers from 0 to 1; 0.5 for no jitter
     */
    public List<ScheduleStep> plan(Map<String, ScheduleRecord> due, Instant now, DoubleSupplier random) {
        List<ScheduleStep> steps = new ArrayList<>();
        int[] bytes = { 0 };
        due.forEach((name, state) -> {
            try {
                plan(new OccurrencePlan(name, state, this.codec, this.threshold, now), state, random, steps, bytes);
            }
            catch (IllegalArgumentException ex) {
                logger.error(
                        "Schedule '{}' does not fire, as its definition is not readable. Remove it, or put it again",
                        name, ex);
            }
        });
        return steps;
    }

    private static void plan(OccurrencePlan plan, ScheduleRecord state, DoubleSupplier random, List<ScheduleStep> steps,
            int[] bytes) {
        ScheduleRecord from = state;
        while (plan.isDue(from.next()) && steps.size() < ScheduleStore.BATCH_LIMIT
                && bytes[0] < MessageStore.CONTENT_LIMIT) {
            ScheduleStep step = plan.step(from, random);
            steps.add(step);
            if (step.occurrence() != null) {
                bytes[0] += step.occurrence().message().envelope().length;
            }
            from = (step.occurrence() != null) ? from.sent(step.to()) : from.skipped(step.to());
        }
    }

}
