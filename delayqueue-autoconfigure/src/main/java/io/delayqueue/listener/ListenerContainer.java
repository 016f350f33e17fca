package io.delayqueue.listener;

import java.util.List;
import java.util.Map;
import java.util.SortedMap;

import io.delayqueue.listener.poll.ListenerStatistics;
import io.delayqueue.listener.poll.PollLoopStatus;

/**
 * A listener at run time. Found in the {@link DelayedListenerRegistry} by its id.
 * <p>
 * <strong>Threads.</strong> All methods may be called from any thread, that of a handler
 * included, and do not wait.
 */
public interface ListenerContainer {

    /** The id of the listener, unique in the application. */
    String id();

    /** The queues it listens to. */
    List<String> queues();

    /**
     * Starts claiming. Does nothing if it has started. While the application itself is
     * stopped, this only notes that the listener is to start with it.
     */
    void start();

    /**
     * Ends claiming and gives back what no handler has begun with. Handlers that run go
     * on, with their leases renewed, for up to the shutdown timeout.
     */
    void stop();

    /** Ends claiming until {@link #resume()}; handlers that run go on without limit. */
    void pause();

    /** Claims again after {@link #pause()}. */
    void resume();

    /** Whether it has started and not been stopped; a paused listener runs. */
    boolean isRunning();

    /** Whether it is paused, or will be once it is started. */
    boolean isPaused();

    /** Most messages of each queue that it handles at the same time. */
    int concurrency();

    /**
     * How many more messages it could handle now, by queue; nothing while it is stopped.
     */
    Map<String, Integer> freeHandlers();

    /** Its loops, one for each partition of its queues; none while it is stopped. */
    List<PollLoopStatus> loops();

    /**
     * How late its handlers began since it was registered, by queue: how many of them, by
     * the microseconds that they were late at most, in steps of an eighth.
     */
    Map<String, SortedMap<Long, Long>> lateness();

    /** What it did since it was registered. */
    ListenerStatistics statistics();

}
