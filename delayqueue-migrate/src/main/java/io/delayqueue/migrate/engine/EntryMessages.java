package io.delayqueue.migrate.engine;

import io.delayqueue.DelayedMessage;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.migrate.PayloadDecoder;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceSchedule;
import org.jspecify.annotations.Nullable;

/** Builds the messages and schedules of entries. */
final class EntryMessages {

    /** Names the entry, where the id of the message does not. */
    static final String ENTRY_HEADER = "migrate-entry";

    /** Holds the id in the source, where that of the message is another. */
    static final String SOURCE_ID_HEADER = "migrate-source-id";

    private final PayloadDecoder decoder;

    EntryMessages(PayloadDecoder decoder) {
        this.decoder = decoder;
    }

    /**
     * Returns the message of an entry.
     * @throws Exception if it cannot be moved; see {@link #reason}
     */
    DelayedMessage of(String queue, SourceEntry entry) throws Exception {
        if (entry.problem() != null || entry.dueAt() == null) {
            throw new IllegalArgumentException(entry.problem());
        }
        Object payload = this.decoder.decode(entry);
        DelayedMessage.Builder message = DelayedMessage.builder(queue, payload)
            .dueAt(entry.dueAt())
            .id(entry.id())
            .priority(entry.priority());
        entry.headers().forEach(message::header);
        String id = this.decoder.id(entry, payload);
        if (id != null) {
            boolean accepted = isAccepted(message, id);
            message.header(accepted ? ENTRY_HEADER : SOURCE_ID_HEADER, accepted ? entry.id() : id);
        }
        return message.build();
    }

    /**
     * Returns the schedule of an entry that has one.
     * @throws Exception if it cannot be moved; see {@link #reason}
     */
    ScheduleDefinition scheduleOf(SourceEntry entry, SourceSchedule schedule) throws Exception {
        if (entry.problem() != null) {
            throw new IllegalArgumentException(entry.problem());
        }
        Object payload = this.decoder.decode(entry);
        String id = this.decoder.id(entry, payload);
        return schedule.named((id != null) ? id : entry.id()).payload(payload).build();
    }

    /** Sets the id, unless a message cannot have it. */
    private static boolean isAccepted(DelayedMessage.Builder message, String id) {
        try {
            message.id(id);
            return true;
        }
        catch (IllegalArgumentException ex) {
            return false;
        }
    }

    /** Returns a reason that does not quote the payload. */
    static String reason(Exception ex) {
        String message = (ex instanceof IllegalArgumentException || ex instanceof PayloadConversionException)
                ? ex.getMessage() : null;
        return (message != null) ? message : ex.getClass().getName();
    }

    /** Returns why an entry cannot be moved; {@code null} if it can be sent. */
    @Nullable String problem(String queue, SourceEntry entry) {
        SourceSchedule schedule = entry.schedule();
        try {
            if (schedule != null) {
                scheduleOf(entry, schedule);
            }
            else {
                of(queue, entry);
            }
            return null;
        }
        catch (Exception ex) {
            return reason(ex);
        }
    }

}
