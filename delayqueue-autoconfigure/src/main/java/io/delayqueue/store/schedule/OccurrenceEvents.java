package io.delayqueue.store.schedule;

import java.util.List;

import io.delayqueue.QueueName;
import io.delayqueue.ScheduleSkip;
import io.delayqueue.SendOutcome;
import io.delayqueue.SkipReason;
import io.delayqueue.store.MessageEventRecorder;
import io.delayqueue.store.MessageEventRecorderFactory;

/** Records which occurrences of schedules were sent and skipped. Thread-safe. */
public final class OccurrenceEvents {

    /** Records nothing. */
    public static final OccurrenceEvents NONE = new OccurrenceEvents(MessageEventRecorderFactory.NONE);

    private final MessageEventRecorderFactory events;

    /**
     * Creates it.
     * @param events receives the events
     */
    public OccurrenceEvents(MessageEventRecorderFactory events) {
        this.events = events;
    }

    /** Records the outcomes of steps, in the same order. */
    public void record(QueueName queue, List<ScheduleStep> steps, List<StepOutcome> outcomes) {
        MessageEventRecorder recorder = this.events.of(queue);
        for (int i = 0; i < steps.size(); i++) {
            SkipReason reason = outcomes.get(i).reason();
            ScheduleSkip skip = steps.get(i).skip();
            if (reason != null) {
                recorder.occurrencesSkipped(reason, (skip != null) ? skip.count() : 1);
            }
            else if (outcomes.get(i).isApplied()) {
                recorder.sent(outcomes.get(i).equals(StepOutcome.KEPT) ? SendOutcome.KEPT : SendOutcome.SCHEDULED);
            }
        }
    }

    /** Records occurrences that a change of a schedule has skipped. */
    void skipped(QueueName queue, ScheduleSkip skip) {
        this.events.of(queue).occurrencesSkipped(skip.reason(), skip.count());
    }

}
