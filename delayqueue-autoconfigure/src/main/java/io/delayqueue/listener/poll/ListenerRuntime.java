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
 * What all loops of a process share.
 *
 * @param store where messages live
 * @param events told of deaths
 * @param threads run handlers, each at once, and turns of loops
 * @param timer renewals and timeouts
 * @param outage whether the store is away
 * @param clocks told of jumps of the store's clock
 * @param partitions how queues are spread
 * @param kept the partitions that this node keeps; {@code null} if nobody tells of
 * keepers
 * @param settings of the process
 * @param nanoTime the clock for spans
 */
public record ListenerRuntime(MessageStore store, ApplicationEventPublisher events, HandlerExecutor threads,
        Timer timer, StoreOutageLog outage, ClockJumpDetector clocks, PartitionLayoutCache partitions,
        @Nullable PrimaryPartitions kept, ListenerRuntimeSettings settings, LongSupplier nanoTime) {

    private static final Logger logger = LoggerFactory.getLogger(ListenerRuntime.class);

    /**
     * Tells the application of deaths that a claim brought. Never here, which may be the
     * client's thread: without another one they are not told, but the letters are kept.
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

    /** Tells the application of a death. A listener that fails changes nothing. */
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
     * Runs a task on a handler thread, or here if there is none to be had: better a
     * caller that waits than a task that is never run, and a permit never given back.
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

    /** What the application wants around handlers. */
    HandlerDecoration decoration() {
        return new HandlerDecoration(this.settings.execution().decorator());
    }

    /**
     * Runs what calls the store and does not wait for the answer: here, unless it is a
     * store whose calls wait themselves.
     */
    public void turn(Runnable task) {
        this.threads.turn(task);
    }

    /**
     * Writes a log line where an appender that blocks holds nobody up. To be used by all
     * that may run on the client's thread: turns, and answers of the store.
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
