package io.delayqueue.listener.poll;

import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.routing.PartitionLayoutCache;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.ApplicationEventPublisher;

/**
 * Holds the collaborators that all loops of a process share.
 *
 * @param store stores the messages
 * @param events publishes dead-letter events
 * @param threads run handlers, each at once, and turns of loops
 * @param timer runs renewals and timeouts
 * @param outage logs outages of the store
 * @param clocks detects jumps of the store's clock
 * @param partitions the partition layouts of queues
 * @param kept the partitions whose primary poller is this node; {@code null} if the store
 * does not announce primary pollers
 * @param settings the settings of the process
 * @param nanoTime the clock for time spans
 */
public record ListenerRuntime(MessageStore store, ApplicationEventPublisher events, HandlerExecutor threads,
        Timer timer, StoreOutageLog outage, ClockJumpDetector clocks, PartitionLayoutCache partitions,
        @Nullable PrimaryPartitions kept, ListenerRuntimeSettings settings, LongSupplier nanoTime) {

    private static final Logger logger = LoggerFactory.getLogger(ListenerRuntime.class);

    /**
     * Publishes dead letters of a claim on another thread, as this one may be the
     * client's. If there is none, the events are dropped, but the dead letters are kept.
     */
    void tellElsewhere(List<DeadLetterEvent> deaths) {
        if (deaths.isEmpty()) {
            return;
        }
        try {
            this.threads.execute(() -> decoration().decorate(() -> deaths.forEach(this::tell)).run());
        }
        catch (RejectedExecutionException | OutOfMemoryError ex) {
            log(() -> logger.warn("No thread to tell listeners of {} dead letters; the letters are kept", deaths.size(),
                    ex));
        }
    }

    /** Publishes a dead letter. A failing event listener has no effect. */
    void tell(DeadLetterEvent death) {
        try {
            this.events.publishEvent(death);
        }
        catch (Throwable ex) {
            logger.warn("A listener for the dead letter '{}' of queue '{}' failed; the letter is kept",
                    death.letterId(), death.queue(), ex);
        }
    }

    /**
     * Runs a task on a handler thread, or in the calling thread if there is none:
     * blocking the caller is better than losing the task and its permit.
     */
    void elsewhere(Runnable task) {
        Runnable decorated = decoration().decorate(task);
        try {
            this.threads.execute(decorated);
        }
        catch (RejectedExecutionException | OutOfMemoryError ex) {
            decorated.run();
        }
    }

    /** Returns the application's decoration of handlers. */
    HandlerDecoration decoration() {
        return new HandlerDecoration(this.settings.execution().decorator());
    }

    /**
     * Runs a task that calls the store without waiting for the answer: in the calling
     * thread, unless the store's calls block.
     */
    public void turn(Runnable task) {
        this.threads.turn(task);
    }

    /**
     * Writes a log line without blocking the caller if an appender blocks. Use it in all
     * code that may run on the client's thread: turns, and answers of the store.
     */
    void log(Runnable line) {
        this.threads.log(line);
    }

    long now() {
        return this.nanoTime.getAsLong();
    }

    double random() {
        return ThreadLocalRandom.current().nextDouble();
    }

}
