package io.delayqueue.listener;

import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

import io.delayqueue.engine.MessageStore;
import org.springframework.context.ApplicationEventPublisher;

/**
 * What all loops of a process share.
 *
 * @param store where messages live
 * @param events told of deaths
 * @param handlerThreads runs handlers, each at once
 * @param timer renewals and timeouts
 * @param outage whether the store is away
 * @param settings of the process
 * @param nanoTime the clock for spans
 */
record WorkerContext(MessageStore store, ApplicationEventPublisher events, Executor handlerThreads, Timer timer,
        Outage outage, WorkerSettings settings, LongSupplier nanoTime) {

    long now() {
        return this.nanoTime.getAsLong();
    }

    double random() {
        return ThreadLocalRandom.current().nextDouble();
    }

}
