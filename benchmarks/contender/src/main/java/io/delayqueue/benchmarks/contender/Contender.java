package io.delayqueue.benchmarks.contender;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * A delay queue under measurement, used as its documentation says.
 * <p>
 * <strong>Threads.</strong> Sends, and the calls by number, come from many threads at a
 * time; all else from one.
 */
public interface Contender extends AutoCloseable {

    /**
     * Connects to Redis. Sends may follow, and nothing is handled before
     * {@link #startHandlers()}.
     * @param setup where Redis is, and how to run
     * @param handler what each handler calls with its message, on as many threads as the
     * setup has handlers
     */
    void open(Setup setup, Consumer<Work> handler);

    /** Stores a message that is due after {@code delay}; returns once Redis has it. */
    void send(String queue, Work work, Duration delay);

    /**
     * Stores many messages, each due at its {@link Work#dueMicros()}, in the fastest way
     * that the contender offers; returns once Redis has all.
     */
    void sendAll(String queue, List<Work> works);

    /** Begins to hand over what is due. */
    void startHandlers();

    /** Hands over nothing more; what is in the hands of a handler is finished. */
    void stopHandlers();

    /** Whether all that was handed over is acknowledged. */
    boolean isSettled();

    /** Removes the message of that number; {@code false} if there is none. */
    default boolean cancel(String queue, long number) {
        throw new UnsupportedOperationException();
    }

    /** Makes the message of that number due after {@code delay}. */
    default boolean reschedule(String queue, long number, Duration delay) {
        throw new UnsupportedOperationException();
    }

    /** Looks at the message of that number. */
    default boolean find(String queue, long number) {
        throw new UnsupportedOperationException();
    }

    /** Returns a part that {@link #open} creates. */
    default <T> T opened(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("Not open");
        }
        return part;
    }

    @Override
    void close();

}
