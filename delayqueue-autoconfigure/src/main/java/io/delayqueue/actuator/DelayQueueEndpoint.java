package io.delayqueue.actuator;

import java.security.Principal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.MessageLimits;
import io.delayqueue.PauseResult;
import io.delayqueue.RedriveResult;
import io.delayqueue.ResumeResult;
import io.delayqueue.ScheduleChangeResult;
import io.delayqueue.ScheduleOperations;
import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.admin.AuditedOperationEvent.Outcome;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.DelayQueueIntegrityChecker;
import io.delayqueue.admin.IntegrityReport;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.QueueOverviews;
import io.delayqueue.admin.QueuePage;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.journal.RestoreReport;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.context.ApplicationEventPublisher;

/**
 * Serves the Actuator endpoint {@code delayqueue}, which shows queues and their
 * listeners, and lets operators act on them. Read-only unless the application configures
 * otherwise. Shows no payloads and no headers.
 */
@Endpoint(id = "delayqueue", defaultAccess = Access.READ_ONLY)
public class DelayQueueEndpoint {

    private static final Logger logger = LoggerFactory.getLogger(DelayQueueEndpoint.class);

    private static final int MAX_PAGE = 100;

    private static final int MAX_ID = 256;

    private final DelayQueueOperations operations;

    private final DelayQueueInspector inspector;

    private final DelayedListenerRegistry listeners;

    private final @Nullable DelayQueueIntegrityChecker checker;

    private final @Nullable JournalOperations journal;

    private final ApplicationEventPublisher events;

    /**
     * Creates the endpoint.
     * @param checker checks queues; {@code null} if the store has none
     * @param journal restores queues; {@code null} if the application has no journal
     * @param events publishes each change
     */
    public DelayQueueEndpoint(DelayQueueOperations operations, DelayQueueInspector inspector,
            DelayedListenerRegistry listeners, @Nullable DelayQueueIntegrityChecker checker,
            @Nullable JournalOperations journal, ApplicationEventPublisher events) {
        this.operations = operations;
        this.inspector = inspector;
        this.listeners = listeners;
        this.checker = checker;
        this.journal = journal;
        this.events = events;
    }

    /** Returns a page of queues, the listeners of this node, and all nodes. */
    @ReadOperation
    public EndpointViews.Overview overview(@Nullable String cursor, @Nullable Integer limit) {
        QueuePage page = valid(() -> this.inspector.queues(cursor, (limit != null) ? limit : MAX_PAGE));
        QueueOverviews read = this.inspector.overviews(page.queues());
        return new EndpointViews.Overview(read.overviews(), EndpointViews.Failure.of(read), page.nextCursor(),
                this.listeners.listeners().stream().map(EndpointViews.Listener::of).toList(), nodes());
    }

    private @Nullable List<NodeStatus> nodes() {
        try {
            return this.inspector.nodes();
        }
        catch (DelayQueueException ex) {
            return null;
        }
    }

    /**
     * Returns a queue, a listener, or the dead letters, schedules or integrity check of a
     * queue.
     * @return {@code null} if there is no such listener
     */
    @ReadOperation
    @RegisterReflectionForBinding({ EndpointViews.Queue.class, EndpointViews.Listener.class,
            EndpointViews.DeadLetters.class, EndpointViews.Schedules.class, IntegrityReport.class })
    public @Nullable Object read(@Selector Section section, @Selector String name, @Nullable String cursor,
            @Nullable Integer limit) {
        return switch (section) {
            case QUEUES ->
                valid(() -> new EndpointViews.Queue(this.inspector.overview(name), this.inspector.dueForecast(name)));
            case LISTENERS -> this.listeners.listener(name).map(EndpointViews.Listener::of).orElse(null);
            case DEAD_LETTERS -> valid(() -> EndpointViews.DeadLetters
                .of(deadLetters(name).list(cursor, (limit != null) ? limit : MAX_PAGE)));
            case INTEGRITY -> valid(() -> checker().check(name));
            case SCHEDULES -> valid(() -> EndpointViews.Schedules
                .of(this.operations.schedules(name).list(cursor, (limit != null) ? limit : MAX_PAGE)));
        };
    }

    /**
     * Pauses or resumes a queue on all nodes, or a listener on this node; restores the
     * messages of a queue from its ledger; redrives or purges dead letters; pauses,
     * resumes or triggers a schedule.
     * @param forTime how long to pause a queue; {@code null} until it is resumed
     * @param deadLetterId the dead letter; {@code *} for all of the queue, which must be
     * explicit
     * @param dryRun whether to count the messages to restore, and change nothing
     * @param rate maximum number of messages to restore in a second; {@code null} for no
     * limit
     * @param id the only message to restore, {@code null} for all; or the name of the
     * schedule
     * @param dueBefore restores messages that are due before this time; {@code null} for
     * all
     * @param includeExpired whether messages whose time to live is over are restored
     */
    @WriteOperation
    @RegisterReflectionForBinding({ PauseResult.class, EndpointViews.Listener.class, EndpointViews.Done.class,
            EndpointViews.Count.class, RestoreReport.class })
    public Object act(SecurityContext caller, @Selector Section section, @Selector String name, Action action,
            @Nullable Duration forTime, @Nullable String deadLetterId, @Nullable Boolean dryRun, @Nullable Integer rate,
            @Nullable String id, @Nullable Instant dueBefore, @Nullable Boolean includeExpired) {
        if (!section.actions().contains(action)) {
            throw invalid("%s is no action for %s; use one of %s".formatted(action, section, section.actions()), null);
        }
        Change change = new Change(caller, section, action, name);
        return switch (section) {
            case QUEUES -> (action == Action.RESTORE) ? restore(change,
                    valid(() -> new RestorePlan(name, (id != null) ? MessageLimits.requireId(id) : null,
                            (dueBefore != null) ? MessageLimits.requireDueAt(dueBefore) : null,
                            Boolean.TRUE.equals(includeExpired), (rate != null) ? rate : 0,
                            Boolean.TRUE.equals(dryRun))))
                    : actOnQueue(change, forTime);
            case LISTENERS -> actOnListener(change);
            case DEAD_LETTERS, INTEGRITY -> actOnDeadLetters(change, deadLetterId);
            case SCHEDULES -> actOnSchedule(change, id);
        };
    }

    private Object actOnSchedule(Change change, @Nullable String schedule) {
        if (schedule == null) {
            throw invalid("Name a schedule by 'id'", null);
        }
        ScheduleOperations schedules = valid(() -> this.operations.schedules(change.name()));
        if (change.action() == Action.TRIGGER) {
            return change(change, schedule,
                    () -> new EndpointViews.Done(schedules.trigger(schedule)
                        .map((sent) -> sent.outcome().name())
                        .orElse(ScheduleChangeResult.NOT_FOUND.name())),
                    (done) -> ScheduleChangeResult.NOT_FOUND.name().equals(done.result()) ? 0 : 1);
        }
        return change(change, schedule, () -> new EndpointViews.Done(
                ((change.action() == Action.PAUSE) ? schedules.pause(schedule) : schedules.resume(schedule)).name()),
                (done) -> ScheduleChangeResult.DONE.name().equals(done.result()) ? 1 : 0);
    }

    private Object actOnQueue(Change change, @Nullable Duration forTime) {
        String queue = change.name();
        if (change.action() == Action.RESUME) {
            return change(change, null, () -> new EndpointViews.Done(this.operations.resume(queue).name()),
                    (done) -> ResumeResult.RESUMED.name().equals(done.result()) ? 1 : 0);
        }
        return change(change, null,
                () -> (forTime != null) ? this.operations.pause(queue, forTime) : this.operations.pause(queue),
                (paused) -> 1);
    }

    private Object restore(Change change, RestorePlan plan) {
        String queue = change.name();
        JournalOperations ledger = this.journal;
        if (ledger == null || !valid(() -> ledger.covers(queue))) {
            throw invalid(
                    "Queue '%s' is not in mode 'ledger' in this application (delayqueue.journal.mode)".formatted(queue),
                    null);
        }
        return plan.dryRun() ? ledger.restore(plan)
                : change(change, plan.id(), () -> ledger.restore(plan), RestoreReport::restored);
    }

    private Object actOnListener(Change change) {
        ListenerContainer listener = this.listeners.listener(change.name())
            .orElseThrow(() -> invalid("There is no listener '%s' on this node".formatted(change.name()), null));
        if (change.action() == Action.PAUSE) {
            listener.pause();
        }
        else {
            listener.resume();
        }
        List<String> queues = listener.queues();
        publish(change, queues.get(0), listener.id(), queues.size(), Outcome.DONE);
        return EndpointViews.Listener.of(listener);
    }

    private Object actOnDeadLetters(Change change, @Nullable String deadLetterId) {
        if (deadLetterId == null) {
            throw invalid("Name a dead letter by 'deadLetterId', or all by '*'", null);
        }
        if (deadLetterId.length() > MAX_ID) {
            throw invalid(
                    "'deadLetterId' has %d characters; at most %d are allowed".formatted(deadLetterId.length(), MAX_ID),
                    null);
        }
        DeadLetterOperations deadLetters = valid(() -> deadLetters(change.name()));
        boolean redrive = change.action() == Action.REDRIVE;
        if (deadLetterId.equals("*")) {
            return change(change, deadLetterId,
                    () -> new EndpointViews.Count(redrive ? deadLetters.redriveAll() : deadLetters.purgeAll()),
                    EndpointViews.Count::deadLetters);
        }
        if (redrive) {
            return change(change, deadLetterId, () -> new EndpointViews.Done(deadLetters.redrive(deadLetterId).name()),
                    (done) -> RedriveResult.REDRIVEN.name().equals(done.result()) ? 1 : 0);
        }
        return change(change, deadLetterId, () -> new EndpointViews.Count(deadLetters.purge(deadLetterId) ? 1 : 0),
                EndpointViews.Count::deadLetters);
    }

    /** Makes a change and publishes its outcome; a failed one may have taken effect. */
    private <T> T change(Change change, @Nullable String filter, Supplier<T> call, ToLongFunction<T> count) {
        T result;
        try {
            result = valid(call);
        }
        catch (InvalidEndpointRequestException ex) {
            throw ex; // rejected before anything was done
        }
        catch (RuntimeException ex) {
            if (ex instanceof DelayQueueException known && known.effect() == Effect.NONE) {
                publish(change, change.name(), filter, 0, Outcome.FAILED);
            }
            else {
                publish(change, change.name(), filter, AuditedOperationEvent.UNKNOWN, Outcome.UNKNOWN);
            }
            throw ex;
        }
        publish(change, change.name(), filter, count.applyAsLong(result), Outcome.DONE);
        return result;
    }

    private void publish(Change change, String queue, @Nullable String filter, long count, Outcome outcome) {
        String known = (filter != null) ? filter.replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "?") : null;
        try {
            this.events.publishEvent(
                    new AuditedOperationEvent(change.principal(), change.operation(), queue, known, count, outcome));
        }
        catch (RuntimeException ex) {
            logger.warn("A listener of AuditedOperationEvent failed for '{}' of queue '{}', which was done",
                    change.operation(), queue, ex);
        }
    }

    private DeadLetterOperations deadLetters(String queue) {
        return this.operations.deadLetters(queue);
    }

    private DelayQueueIntegrityChecker checker() {
        if (this.checker == null) {
            throw invalid("This store has no integrity checker", null);
        }
        return this.checker;
    }

    /** Reports an invalid argument as an error of the client. */
    private static <T> T valid(Supplier<T> call) {
        try {
            return call.get();
        }
        catch (IllegalArgumentException ex) {
            throw invalid(String.valueOf(ex.getMessage()), ex);
        }
    }

    private static InvalidEndpointRequestException invalid(String reason, @Nullable Throwable cause) {
        return new InvalidEndpointRequestException(reason, reason, cause);
    }

    /** Lists the sections that can be read, and their actions. */
    public enum Section {

        /** Queues, by name. */
        QUEUES(List.of(Action.PAUSE, Action.RESUME, Action.RESTORE)),

        /** Listeners of this node, by id. */
        LISTENERS(List.of(Action.PAUSE, Action.RESUME)),

        /** Dead letters, by queue. */
        DEAD_LETTERS(List.of(Action.REDRIVE, Action.PURGE)),

        /** Schedules, by queue. */
        SCHEDULES(List.of(Action.PAUSE, Action.RESUME, Action.TRIGGER)),

        /** Integrity check, by queue; slow, because it reads every message. */
        INTEGRITY(List.of());

        private final List<Action> actions;

        Section(List<Action> actions) {
            this.actions = actions;
        }

        List<Action> actions() {
            return this.actions;
        }

    }

    /** Lists the actions. */
    public enum Action {

        PAUSE, RESUME, RESTORE, REDRIVE, PURGE, TRIGGER

    }

    /**
     * Holds a requested change.
     *
     * @param caller the caller
     * @param section the section
     * @param action the action
     * @param name of the queue or the listener
     */
    private record Change(SecurityContext caller, Section section, Action action, String name) {

        /**
         * Marks actions on a listener, which affect this node only, and on a schedule.
         */
        String operation() {
            String verb = this.action.name().toLowerCase(Locale.ROOT);
            return switch (this.section) {
                case LISTENERS -> verb + "-listener";
                case SCHEDULES -> verb + "-schedule";
                default -> verb;
            };
        }

        String principal() {
            Principal principal = this.caller.getPrincipal();
            return (principal != null) ? principal.getName() : "anonymous";
        }

    }

}
