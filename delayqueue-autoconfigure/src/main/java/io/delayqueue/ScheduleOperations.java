package io.delayqueue;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Adds, changes and inspects the schedules of one queue. A schedule sends a message, an
 * <em>occurrence</em>, at each of its nominal times, exactly once or never: each
 * occurrence that is not sent is counted with a reason. Occurrences are ordinary
 * messages, with the id <code>@name@&lt;milliseconds&gt;</code>.
 * <p>
 * Schedules are settings of the queue: they remain when all messages are gone, and when
 * the application that has put them is not running. They are fired by the nodes that
 * listen to the queue, and by those of applications that have put or declared schedules
 * in it. Redis can hold 100,000 of them in a queue, for example one per customer.
 * <p>
 * Implementations are thread-safe. The exceptions are those of
 * {@link DelayQueueOperations}.
 * <p>
 * A customer chooses the time of a report: <pre class="code">
 * ScheduleOperations schedules = delayQueue.schedules("reports");
 * schedules.put(ScheduleDefinition.cron("report-42", "0 0 8 * * MON")
 *     .zone(ZoneId.of("Europe/Berlin"))
 *     .payload(report)
 *     .build());
 * schedules.pause("report-42");
 * </pre>
 *
 * @see DelayQueueOperations#schedules(String)
 * @see DelayedSchedule
 */
public interface ScheduleOperations {

    /** Maximum number of schedules of a page. */
    int MAX_PAGE = 100;

    /**
     * Adds a schedule, or replaces the definition of the one of that name. If the times
     * are the same, the chain of occurrences goes on; otherwise the next occurrence is
     * the first of the new times after now. A paused schedule stays paused. Also replaces
     * a definition that is not readable.
     * @param definition the definition; its payload is written as JSON
     * @return whether the schedule is new or was changed
     * @throws IllegalArgumentException if the payload is too large, or if an application
     * declares a schedule of that name with {@link DelayedSchedule}; nothing was changed
     */
    SchedulePutResult put(ScheduleDefinition definition);

    /**
     * Adds a schedule that begins at a given time, unless the queue has one of that name.
     * So a schedule of another scheduler is continued with the occurrence that the other
     * one would have sent next. Occurrences between the given time and now are due at
     * once; those that are late by more than the misfire threshold are missed, see
     * {@link ScheduleDefinition.Builder#misfire}.
     * @param definition the definition; its payload is written as JSON
     * @param from the first occurrence is the first nominal time that is not before it
     * @return whether the schedule was added; otherwise nothing was changed
     * @throws IllegalArgumentException if the payload is too large; nothing was changed
     */
    boolean putIfAbsent(ScheduleDefinition definition, Instant from);

    /**
     * Pauses a schedule: its occurrences are skipped, and counted, until it is resumed.
     * Those that were sent before are handled. The pause also applies to later
     * definitions of the schedule.
     * @param name the name of the schedule
     * @return the result
     */
    ScheduleChangeResult pause(String name);

    /**
     * Resumes a schedule; its next occurrence is sent.
     * @param name the name of the schedule
     * @return the result
     */
    ScheduleChangeResult resume(String name);

    /**
     * Sends one occurrence now, in addition to those of the times, even if the schedule
     * is paused. Its nominal time is now. The misfire policy does not apply; of the
     * overlap policies only {@link OverlapPolicy#QUEUE} does.
     * @param name the name of the schedule
     * @return the id and the due time of the message; empty if there is no schedule of
     * that name
     */
    Optional<SendResult> trigger(String name);

    /**
     * Removes a schedule that a call has put, or that an application without live nodes
     * declares. Occurrences that were sent are handled; they can be cancelled by their
     * ids.
     * @param name the name of the schedule
     * @return the result
     */
    ScheduleChangeResult remove(String name);

    /**
     * Returns a schedule.
     * @param name the name of the schedule
     * @return the schedule; empty if there is none of that name, or if its definition is
     * not readable, which {@link #list} returns
     */
    Optional<ScheduleStatus> find(String name);

    /**
     * Returns some schedules, the one that is due next first. A schedule that becomes due
     * between two calls moves to the end, so it may be returned twice. A page has about 1
     * MiB of definitions at most, so it may have fewer schedules than the limit although
     * more follow.
     * @param cursor where the previous page ended; {@code null} for the first page
     * @param limit 1 to {@value #MAX_PAGE}
     */
    SchedulePage list(@Nullable String cursor, int limit);

    /**
     * Returns the nominal times of the next occurrences of a schedule.
     * @param name the name of the schedule
     * @param count 1 to 1,000
     * @return the times, fewer if the schedule ends; empty if there is no schedule of
     * that name
     */
    List<Instant> preview(String name, int count);

}
