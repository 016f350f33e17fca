package io.delayqueue.listener;

import java.util.List;
import java.util.Map;
import java.util.SortedMap;

import io.delayqueue.admin.ListenerOverride;
import io.delayqueue.admin.NodeStatus.QueueStatus;
import io.delayqueue.listener.handler.HandlerOutage;
import io.delayqueue.listener.poll.ListenerStatistics;
import io.delayqueue.listener.poll.PollLoopStatus;
import org.jspecify.annotations.Nullable;

/**
 * Controls a listener at run time. Found in the {@link DelayedListenerRegistry} by its
 * id.
 * <p>
 * <strong>Threads.</strong> Any thread, even a handler's, may call all methods; none
 * blocks.
 * <p>
 * Pauses a listener on this node while a partner is away: <pre class="code">
 * registry.require("invoices").pause();
 * </pre>
 */
public interface ListenerContainer {

    /** Returns the id of the listener, unique in the application. */
    String id();

    /** Returns the queues it listens to. */
    List<String> queues();

    /**
     * Starts claiming. Does nothing if it has started. While the application itself is
     * stopped, only records that the listener must start with it.
     * <p>
     * Handlers that still run after a {@link #stop()} do not count towards the
     * concurrency: until they end, more may run.
     */
    void start();

    /**
     * Ends claiming and releases messages that no handler has started. Running handlers
     * continue, with their leases renewed, for up to the shutdown timeout; then they are
     * interrupted or cancelled, as by a stop of the application.
     */
    void stop();

    /** Ends claiming until {@link #resume()}; running handlers have no time limit. */
    void pause();

    /** Resumes claiming after {@link #pause()}. */
    void resume();

    /** Returns whether it was started and not stopped; a paused listener runs. */
    boolean isRunning();

    /**
     * Returns whether it is paused, or will be once it is started: by {@link #pause()},
     * or by overrides for all its queues.
     */
    boolean isPaused();

    /**
     * Returns the maximum number of messages handled at the same time, per queue; of
     * several queues that of the first one.
     */
    int concurrency();

    /** Returns what applies to each of its queues. */
    List<QueueStatus> byQueue();

    /**
     * Replaces the overrides of operators, which apply until the next call. Called by the
     * library, which takes them from {@link io.delayqueue.admin.NodeOperations}; an
     * override for a queue that the listener does not listen to has no effect.
     */
    void override(List<ListenerOverride> overrides);

    /**
     * Returns how many more messages it could handle now, by queue; of a batch listener,
     * how many more batches. Empty while stopped.
     */
    Map<String, Integer> freeHandlers();

    /**
     * Returns why it handles no message although it runs, for example because the broker
     * that it forwards to is away; {@code null} if there is no such reason. A listener of
     * several queues returns the longest outage.
     */
    @Nullable HandlerOutage outage();

    /** Returns its loops, one for each partition of its queues; empty while stopped. */
    List<PollLoopStatus> loops();

    /**
     * Returns how late its handlers began since its registration, by queue: the counts by
     * upper bounds in microseconds, in steps of an eighth.
     */
    Map<String, SortedMap<Long, Long>> lateness();

    /**
     * Returns how late its handlers began since its registration, by queue: the counts by
     * {@linkplain io.delayqueue.store.LatenessClasses class of lateness}.
     */
    Map<String, long[]> latenessClasses();

    /** Returns its failed attempts since its registration, by queue. */
    Map<String, Long> failures();

    /** Returns its counts since its registration. */
    ListenerStatistics statistics();

}
