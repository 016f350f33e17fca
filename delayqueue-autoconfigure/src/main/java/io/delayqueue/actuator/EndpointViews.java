package io.delayqueue.actuator;

import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.SchedulePage;
import io.delayqueue.ScheduleSkip;
import io.delayqueue.ScheduleStatus;
import io.delayqueue.SkipReason;
import io.delayqueue.UnreadableSchedule;
import io.delayqueue.admin.DueForecast;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.admin.QueueOverviews;
import io.delayqueue.listener.ListenerContainer;
import io.delayqueue.listener.handler.HandlerOutage;
import io.delayqueue.listener.poll.ListenerStatistics;
import io.delayqueue.CauseMasking;
import org.jspecify.annotations.Nullable;

/** Holds the responses of {@link DelayQueueEndpoint}. */
final class EndpointViews {

    private EndpointViews() {
    }

    /**
     * Holds the overview.
     *
     * @param queues a page of the queues of the namespace
     * @param failures those of the page that could not be read
     * @param nextCursor where the next page begins; {@code null} if this is the last one
     * @param listeners of this node
     * @param nodes the processes that have listeners; {@code null} if they could not be
     * read
     */
    record Overview(List<QueueOverview> queues, List<Failure> failures, @Nullable String nextCursor,
            List<Listener> listeners, @Nullable List<NodeStatus> nodes) {
    }

    /**
     * Holds a queue that could not be read.
     *
     * @param queue the queue
     * @param reason why
     */
    record Failure(String queue, String reason) {

        static List<Failure> of(QueueOverviews read) {
            return read.failures()
                .entrySet()
                .stream()
                .map((failure) -> new Failure(failure.getKey(), String.valueOf(failure.getValue().getMessage())))
                .toList();
        }

    }

    /**
     * Holds one queue.
     *
     * @param counts its counts
     * @param forecast its counts by due time
     */
    record Queue(QueueOverview counts, DueForecast forecast) {
    }

    /**
     * Holds a listener of this node.
     *
     * @param id its id
     * @param queues that it listens to
     * @param running whether it was started
     * @param paused whether it is paused, on this node
     * @param freeHandlers how many more messages, or batches, it could handle, by queue
     * @param outage why it handles nothing although it runs; {@code null} for no reason
     * @param statistics its counts since it was registered
     */
    record Listener(String id, List<String> queues, boolean running, boolean paused, Map<String, Integer> freeHandlers,
            @Nullable String outage, ListenerStatistics statistics) {

        static Listener of(ListenerContainer listener) {
            return new Listener(listener.id(), listener.queues(), listener.isRunning(), listener.isPaused(),
                    listener.freeHandlers(), HandlerOutage.describe(listener.outage()), listener.statistics());
        }

    }

    /**
     * Holds a page of dead letters.
     *
     * @param deadLetters the latest one first
     * @param nextCursor where the next page begins; {@code null} if this is the last one
     */
    record DeadLetters(List<DeadLetterView> deadLetters, @Nullable String nextCursor) {

        static DeadLetters of(DeadLetterPage page) {
            return new DeadLetters(page.deadLetters().stream().map(DeadLetterView::of).toList(), page.nextCursor());
        }

    }

    /**
     * Holds a dead letter without the content of its sender.
     *
     * @param id its id
     * @param messageId the id of its message
     * @param group of the message
     * @param dueAt when it was due
     * @param deadLetteredAt when it was dead-lettered
     * @param failures of its handlers
     * @param lapses of its leases
     * @param reason why it was dead-lettered: the type of an exception without its
     * message, which may quote the payload
     */
    record DeadLetterView(String id, String messageId, @Nullable String group, Instant dueAt, Instant deadLetteredAt,
            int failures, int lapses, String reason) {

        static DeadLetterView of(DeadLetter deadLetter) {
            return new DeadLetterView(deadLetter.id(), deadLetter.messageId(), deadLetter.group(), deadLetter.dueAt(),
                    deadLetter.deadLetteredAt(), deadLetter.failures(), deadLetter.lapses(),
                    CauseMasking.masked(deadLetter.cause()));
        }

    }

    /**
     * Holds a page of schedules.
     *
     * @param schedules the one that is due next first
     * @param unreadable those of the page whose definitions are not readable
     * @param nextCursor where the next page begins; {@code null} if this is the last one
     */
    record Schedules(List<ScheduleView> schedules, List<UnreadableSchedule> unreadable, @Nullable String nextCursor) {

        static Schedules of(SchedulePage page) {
            return new Schedules(page.schedules().stream().map(ScheduleView::of).toList(), page.unreadable(),
                    page.nextCursor());
        }

    }

    /**
     * Holds a schedule without its payload.
     *
     * @param name its name
     * @param times its cron expression with the time zone, or its interval
     * @param owner the application that declares it; {@code null} if a call has put it
     * @param paused whether its occurrences are skipped
     * @param nextAt the nominal time of its next occurrence
     * @param lastAt that of the last one that was sent
     * @param sent how many were sent
     * @param skipped how many were skipped, by reason
     * @param skips the last skips, the latest first
     */
    record ScheduleView(String name, String times, @Nullable String owner, boolean paused, @Nullable Instant nextAt,
            @Nullable Instant lastAt, long sent, Map<SkipReason, Long> skipped, List<ScheduleSkip> skips) {

        static ScheduleView of(ScheduleStatus schedule) {
            ScheduleDefinition definition = schedule.definition();
            String times = definition.cron()
                .map((cron) -> cron + " " + definition.zone())
                .orElseGet(() -> String.valueOf(definition.fixedRate().orElse(null)));
            return new ScheduleView(schedule.name(), times, schedule.owner(), schedule.paused(), schedule.nextAt(),
                    schedule.lastAt(), schedule.sent(), schedule.skipped(), schedule.skips());
        }

    }

    /**
     * Holds the result of an action.
     *
     * @param result in a word
     */
    record Done(String result) {
    }

    /**
     * Holds the number of affected dead letters.
     *
     * @param deadLetters how many
     */
    record Count(long deadLetters) {
    }

}
