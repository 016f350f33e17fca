package io.delayqueue.journal;

import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Selects accepted rows.
 *
 * @param queues the names of the only queues; empty for all
 * @param id the only id; {@code null} for all
 * @param dueBefore selects messages that are due before this time; {@code null} for all
 */
record RestoreSelection(List<String> queues, @Nullable String id, @Nullable Instant dueBefore) {

    static RestoreSelection of(RestorePlan plan) {
        return new RestoreSelection((plan.queue() != null) ? List.of(plan.queue()) : List.of(), plan.id(),
                plan.dueBefore());
    }

    static RestoreSelection of(Collection<QueueName> queues) {
        return new RestoreSelection(queues.stream().map(QueueName::value).toList(), null, null);
    }

    /** Returns the condition, to follow others. */
    String condition() {
        return (this.queues.isEmpty() ? "" : " AND queue_name IN (:queues)")
                + ((this.id != null) ? " AND message_id = :id" : "")
                + ((this.dueBefore != null) ? " AND due_millis < :due" : "");
    }

    /** Returns the parameters of the condition. */
    Map<String, Object> parameters() {
        Map<String, Object> parameters = new HashMap<>();
        if (!this.queues.isEmpty()) {
            parameters.put("queues", this.queues);
        }
        if (this.id != null) {
            parameters.put("id", this.id);
        }
        if (this.dueBefore != null) {
            parameters.put("due", this.dueBefore.toEpochMilli());
        }
        return parameters;
    }

}
