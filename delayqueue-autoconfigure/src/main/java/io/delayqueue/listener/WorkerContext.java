package io.delayqueue.listener;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.engine.MessageStore;
import io.delayqueue.engine.PartitionTable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.ApplicationEventPublisher;

/**
 * What all loops of a process share.
 *
 * @param store where messages live
 * @param events told of deaths
 * @param handlerThreads runs handlers, each at once
 * @param timer renewals and timeouts
 * @param outage whether the store is away
 * @param partitions how queues are spread
 * @param kept the partitions that this node keeps; {@code null} if nobody tells of
 * keepers
 * @param settings of the process
 * @param nanoTime the clock for spans
 */
record WorkerContext(MessageStore store, ApplicationEventPublisher events, Executor handlerThreads, Timer timer,
        Outage outage, PartitionTable partitions, @Nullable KeptPartitions kept, WorkerSettings settings,
        LongSupplier nanoTime) {

    private static final Logger logger = LoggerFactory.getLogger(WorkerContext.class);

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
        try {
            this.handlerThreads.execute(task);
        }
        catch (RejectedExecutionException | OutOfMemoryError ex) {
            task.run();
        }
    }

    /**
     * Runs what calls the store and does not wait for the answer: here, unless it is a
     * store whose calls wait themselves.
     */
    void turn(Runnable task) {
        if (this.store.waits()) {
            this.handlerThreads.execute(task);
        }
        else {
            task.run();
        }
    }

    long now() {
        return this.nanoTime.getAsLong();
    }

    double random() {
        return ThreadLocalRandom.current().nextDouble();
    }

}
