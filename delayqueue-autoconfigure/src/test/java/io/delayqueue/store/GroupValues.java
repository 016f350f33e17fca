package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import io.delayqueue.MessageLimits;
import io.delayqueue.MessageState;
import io.delayqueue.OnDuplicate;
import io.delayqueue.StoredMessage;
import org.jspecify.annotations.Nullable;

import static io.delayqueue.store.StoreValues.QUEUE;
import static io.delayqueue.store.StoreValues.at;
import static io.delayqueue.store.StoreValues.envelope;

/** Messages of groups, as cases send them and find them. */
final class GroupValues {

    private GroupValues() {
    }

    static NewMessage grouped(String group, String id, Duration delay) {
        return new NewMessage(id, false, DueTime.after(delay), OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY, null,
                group, envelope(id));
    }

    static NewMessage dueAt(String group, String id, Instant due) {
        return new NewMessage(id, false, DueTime.at(due), OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY, null, group,
                envelope(id));
    }

    static NewMessage following(@Nullable String group, String id, Duration delay) {
        return new NewMessage(id, false, DueTime.after(delay), OnDuplicate.AFTER_CURRENT, MessageLimits.NORMAL_PRIORITY,
                null, group, envelope(id));
    }

    static NewMessage replacing(@Nullable String group, String id, Duration delay) {
        return new NewMessage(id, false, DueTime.after(delay), OnDuplicate.REPLACE, MessageLimits.NORMAL_PRIORITY, null,
                group, envelope(id));
    }

    static NewMessage message(String group, String id, OnDuplicate onDuplicate, int priority,
            @Nullable Duration timeToLive) {
        return new NewMessage(id, false, DueTime.NOW, onDuplicate, priority, timeToLive, group, envelope(id));
    }

    static StoredMessage follower(String id, Instant due) {
        return new StoredMessage(QUEUE.queue().value(), id, MessageState.SCHEDULED, due, null, null,
                MessageLimits.NORMAL_PRIORITY, "g", 0, 0, "\"" + id + "\"", Map.of());
    }

}
