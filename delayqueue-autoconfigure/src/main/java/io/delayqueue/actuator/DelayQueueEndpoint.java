package io.delayqueue.actuator;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DelayQueueDoctor;
import io.delayqueue.DelayQueueInspector;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.QueuePage;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * Actuator endpoint {@code delayqueue}: what the queues hold and who listens to them, and
 * what an operator does about it. Only reading is allowed unless the application says
 * otherwise. Tells no payloads and no headers.
 */
@Endpoint(id = "delayqueue", defaultAccess = Access.READ_ONLY)
public final class DelayQueueEndpoint {

    private static final int MOST_LETTERS = 100;

    private final DelayQueueOperations operations;

    private final DelayQueueInspector inspector;

    private final DelayedListenerRegistry listeners;

    private final @Nullable DelayQueueDoctor doctor;

    /**
     * Creates the endpoint.
     * @param doctor examines queues; {@code null} if the store has none
     */
    public DelayQueueEndpoint(DelayQueueOperations operations, DelayQueueInspector inspector,
            DelayedListenerRegistry listeners, @Nullable DelayQueueDoctor doctor) {
        this.operations = operations;
        this.inspector = inspector;
        this.listeners = listeners;
        this.doctor = doctor;
    }

    /** The queues, by page, and the listeners of this node. */
    @ReadOperation
    public EndpointViews.Overview overview(@Nullable String cursor, @Nullable Integer limit) {
        QueuePage page = valid(() -> this.inspector.queues(cursor, (limit != null) ? limit : MOST_LETTERS));
        return new EndpointViews.Overview(this.inspector.overviews(page.queues()), page.nextCursor(),
                this.listeners.listeners().stream().map(EndpointViews.Listener::of).toList());
    }

    /**
     * One queue, listener, or the dead letters or the examination of a queue.
     * @return {@code null} if there is no such listener
     */
    @ReadOperation
    public @Nullable Object look(@Selector Section section, @Selector String name, @Nullable String cursor,
            @Nullable Integer limit) {
        return switch (section) {
            case QUEUES ->
                valid(() -> new EndpointViews.Queue(this.inspector.overview(name), this.inspector.horizon(name)));
            case LISTENERS -> this.listeners.listener(name).map(EndpointViews.Listener::of).orElse(null);
            case DEAD_LETTERS -> valid(
                    () -> EndpointViews.Letters.of(letters(name).list(cursor, (limit != null) ? limit : MOST_LETTERS)));
            case EXAMINATION -> valid(() -> doctor().examine(name));
        };
    }

    /**
     * Pauses or resumes a queue, everywhere, or a listener, on this node; redrives or
     * purges dead letters.
     * @param forTime how long to pause a queue; until somebody resumes it if there is
     * none
     * @param letterId the dead letter; all of the queue with {@code *}, so that nobody
     * does that by forgetting something
     */
    @WriteOperation
    public Object act(@Selector Section section, @Selector String name, Action action, @Nullable Duration forTime,
            @Nullable String letterId) {
        return switch (section) {
            case QUEUES -> valid(() -> actOnQueue(name, action, forTime));
            case LISTENERS -> actOnListener(name, action);
            case DEAD_LETTERS -> valid(() -> actOnLetters(letters(name), action, letterId));
            case EXAMINATION -> throw unfit(section, action);
        };
    }

    private Object actOnQueue(String queue, Action action, @Nullable Duration forTime) {
        return switch (action) {
            case PAUSE -> (forTime != null) ? this.operations.pause(queue, forTime) : this.operations.pause(queue);
            case RESUME -> new EndpointViews.Done(this.operations.resume(queue).name());
            case REDRIVE, PURGE -> throw unfit(Section.QUEUES, action);
        };
    }

    private Object actOnListener(String id, Action action) {
        ListenerContainer listener = this.listeners.listener(id)
            .orElseThrow(() -> invalid("There is no listener '%s' on this node".formatted(id), null));
        switch (action) {
            case PAUSE -> listener.pause();
            case RESUME -> listener.resume();
            case REDRIVE, PURGE -> throw unfit(Section.LISTENERS, action);
        }
        return EndpointViews.Listener.of(listener);
    }

    private static Object actOnLetters(DeadLetterOperations letters, Action action, @Nullable String letterId) {
        if (letterId == null) {
            throw invalid("Name a dead letter by 'letterId', or all by '*'", null);
        }
        boolean all = letterId.equals("*");
        return switch (action) {
            case REDRIVE -> all ? new EndpointViews.Count(letters.redriveAll())
                    : new EndpointViews.Done(letters.redrive(letterId).name());
            case PURGE -> all ? new EndpointViews.Count(letters.purgeAll())
                    : new EndpointViews.Count(letters.purge(letterId) ? 1 : 0);
            case PAUSE, RESUME -> throw unfit(Section.DEAD_LETTERS, action);
        };
    }

    private DeadLetterOperations letters(String queue) {
        return this.operations.deadLetters(queue);
    }

    private DelayQueueDoctor doctor() {
        if (this.doctor == null) {
            throw invalid("This store has nobody who examines it", null);
        }
        return this.doctor;
    }

    /** What is asked for wrongly is the client's mistake, and no failure here. */
    private static <T> T valid(Supplier<T> call) {
        try {
            return call.get();
        }
        catch (IllegalArgumentException ex) {
            throw invalid(String.valueOf(ex.getMessage()), ex);
        }
    }

    private static InvalidEndpointRequestException unfit(Section section, Action action) {
        return invalid("%s is no action for %s; use one of %s".formatted(action, section, section.actions()), null);
    }

    private static InvalidEndpointRequestException invalid(String reason, @Nullable Throwable cause) {
        return new InvalidEndpointRequestException(reason, reason, cause);
    }

    /** What can be looked at, and acted on. */
    public enum Section {

        /** By queue. */
        QUEUES(List.of(Action.PAUSE, Action.RESUME)),

        /** By listener of this node. */
        LISTENERS(List.of(Action.PAUSE, Action.RESUME)),

        /** By queue. */
        DEAD_LETTERS(List.of(Action.REDRIVE, Action.PURGE)),

        /** By queue; reads every message, which takes its time. */
        EXAMINATION(List.of());

        private final List<Action> actions;

        Section(List<Action> actions) {
            this.actions = actions;
        }

        List<Action> actions() {
            return this.actions;
        }

    }

    /** What can be done. */
    public enum Action {

        PAUSE, RESUME, REDRIVE, PURGE

    }

}
