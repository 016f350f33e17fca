package io.delayqueue.migrate.engine;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.StoredMessage;
import io.delayqueue.migrate.EntryPage;
import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.PayloadDecoder;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceSchedule;

/**
 * Looks up sent entries in DelayQueue. Those that are not due yet must be there with
 * their due times, and schedules with their times, unless the application has cancelled,
 * removed or changed them.
 */
public final class SentCheck {

    private static final int PAGE = 1_000;

    /** Entries that are due sooner may be handled during the check. */
    private static final Duration MARGIN = Duration.ofMinutes(1);

    private final DelayQueueOperations queues;

    private final PayloadDecoder decoder;

    private final EntryMessages messages;

    private final InstantSource clock;

    private long found;

    private long missing;

    private long changed;

    public SentCheck(DelayQueueOperations queues, PayloadDecoder decoder, InstantSource clock) {
        this.queues = queues;
        this.decoder = decoder;
        this.messages = new EntryMessages(decoder);
        this.clock = clock;
    }

    /**
     * Looks up entries of a queue.
     * @param maximum how many of those that are not due
     */
    public Counts run(MigrationSource source, String queue, String target, long maximum) {
        long checked = 0;
        String cursor = null;
        do {
            EntryPage page = source.sent(queue, cursor, PAGE);
            for (SourceEntry entry : page.entries()) {
                if (checked < maximum && isLate(entry)) {
                    check(target, entry);
                    checked++;
                }
            }
            cursor = page.next();
        }
        while (cursor != null && checked < maximum);
        return new Counts(this.found, this.missing, this.changed);
    }

    /** A schedule is there after its first occurrence, too. */
    private boolean isLate(SourceEntry entry) {
        Instant due = entry.dueAt();
        return entry.schedule() != null || due != null && due.isAfter(this.clock.instant().plus(MARGIN));
    }

    private void check(String target, SourceEntry entry) {
        if (entry.schedule() != null) {
            checkSchedule(target, entry, entry.schedule());
            return;
        }
        Optional<StoredMessage> message = this.queues.find(target, entry.id());
        if (message.isEmpty()) {
            message = byBusinessId(target, entry);
        }
        if (message.isEmpty()) {
            this.missing++;
        }
        else if (entry.dueAt() != null && entry.dueAt().equals(message.get().dueAt())) {
            this.found++;
        }
        else {
            this.changed++;
        }
    }

    private void checkSchedule(String target, SourceEntry entry, SourceSchedule schedule) {
        try {
            ScheduleDefinition definition = this.messages.scheduleOf(entry, schedule);
            Optional<ScheduleStatus> found = this.queues.schedules(target).find(definition.name());
            if (found.isEmpty()) {
                this.missing++;
            }
            else if (found.get().definition().hasTimesOf(definition)) {
                this.found++;
            }
            else {
                this.changed++;
            }
        }
        catch (DelayQueueException ex) {
            throw ex;
        }
        catch (Exception ex) {
            // Neither the payload nor the name is as it was when the schedule was put.
            this.missing++;
        }
    }

    private Optional<StoredMessage> byBusinessId(String target, SourceEntry entry) {
        try {
            String id = this.decoder.id(entry, this.decoder.decode(entry));
            return (id != null) ? this.queues.find(target, id) : Optional.empty();
        }
        catch (Exception ex) {
            // Neither the payload nor the id is as it was when the entry was sent.
            return Optional.empty();
        }
    }

    /**
     * Holds the results.
     *
     * @param found messages that are there with their due time, and schedules
     * @param missing messages and schedules that are not there
     * @param changed messages that are there with another due time, and schedules with
     * other times
     */
    public record Counts(long found, long missing, long changed) {
    }

}
