package io.delayqueue.listener.poll;

import java.util.List;
import java.util.function.LongSupplier;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.routing.PartitionLayouts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.ApplicationEventPublisher;

/**
 * Holds the collaborators that all loops of a process share.
 *
 * @param primaryPartitions the partitions whose primary poller is this node; {@code null}
 * if the store does not announce primary pollers
 * @param nanoTime the monotonic clock
 */
public record PollLoopContext(MessageStore store, ApplicationEventPublisher events, HandlerExecutor executor,
        LoopTimer timer, StoreOutageLog outage, ClockJumpLog clocks, PartitionLayouts partitions,
        @Nullable PrimaryPartitions primaryPartitions, SharedListenerSettings settings, LongSupplier nanoTime) {

    private static final Logger logger = LoggerFactory.getLogger(PollLoopContext.class);

    /**
     * Publishes dead letters of a claim on another thread, as this one may be the
     * client's: on an extra one if an executor of the application rejects that. If there
     * is none, the events are dropped, but the dead letters are kept.
     */
    void publishAsync(List<DeadLetterEvent> deadLetters) {
        if (deadLetters.isEmpty()) {
            return;
        }
        try {
            Runnable publication = () -> deadLetters.forEach(this::publish);
            this.executor.executeElsewhere(() -> decorator().decorate(publication).run());
        }
        catch (RuntimeException | OutOfMemoryError ex) {
            log(() -> logger.warn("No thread to publish the events of {} dead letters, which are kept",
                    deadLetters.size(), ex));
        }
    }

    /** Publishes a dead letter. A failing event listener has no effect. */
    void publish(DeadLetterEvent deadLetter) {
        try {
            this.events.publishEvent(deadLetter);
        }
        catch (Throwable ex) {
            logger.warn("A listener of DeadLetterEvent failed for message '{}' of queue '{}'; its dead letter is kept",
                    deadLetter.id(), deadLetter.queue(), ex);
        }
        finally {
            // An interrupt that it set must not reach the next message of this thread.
            Thread.interrupted();
        }
    }

    /** Runs a task on a handler thread, or on an extra one if there is none. */
    void runOnHandlerThread(Runnable task) {
        this.executor.executeAnyway(decorator().decorate(task));
    }

    /** Returns the application's decorator of handlers. */
    SafeTaskDecorator decorator() {
        return new SafeTaskDecorator(this.settings.execution().decorator());
    }

    /**
     * Runs a task that calls the store without waiting for the answer: in the calling
     * thread, unless the store's calls block.
     */
    public void runStoreTask(Runnable task) {
        this.executor.runStoreTask(task);
    }

    /**
     * Writes a log line without blocking the caller if an appender blocks. Use it in all
     * code that may run on the client's thread: iterations, and answers of the store.
     */
    void log(Runnable line) {
        this.executor.log(line);
    }

    long now() {
        return this.nanoTime.getAsLong();
    }

    double random() {
        return this.timer.random();
    }

}
