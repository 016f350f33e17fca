package io.delayqueue.intake;

import java.time.Duration;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.PayloadTooLargeException;
import io.delayqueue.QueueName;
import io.delayqueue.store.MessageGroupChangeException;
import io.delayqueue.store.Texts;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Schedules the messages of one source in one queue. While the store does not take them,
 * the caller keeps them, and tries again after growing waits. The begin and the end of
 * such a time are logged.
 * <p>
 * <strong>Threads.</strong> Any thread schedules.
 */
public final class IntakeScheduler {

    private static final Logger logger = LoggerFactory.getLogger(IntakeScheduler.class);

    private static final Duration SHORTEST_WAIT = Duration.ofSeconds(1);

    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

    private final String source;

    private final QueueName queue;

    private final IntakeReader reader;

    private final DelayQueueOperations operations;

    /** The failed attempts since the last success; guarded by this object. */
    private int failures;

    /**
     * Creates a scheduler.
     * @param source the topic or queue of the broker, for the log
     */
    public IntakeScheduler(String source, QueueName queue, EnvelopeCodec codec, DelayQueueOperations operations) {
        this.source = source;
        this.queue = queue;
        this.reader = new IntakeReader(queue, codec);
        this.operations = operations;
    }

    /** Schedules a message, unless it asks for no delay. */
    Result schedule(IntakeMessage message) {
        if (!IntakeReader.isDelayed(message)) {
            return Result.NOT_DELAYED;
        }
        try {
            this.operations.send(this.reader.read(message));
        }
        catch (InvalidIntakeException | PayloadTooLargeException | MessageGroupChangeException ex) {
            logger.error("Message from {} is not scheduled in queue '{}', and is not tried again: {}", message,
                    this.queue, ex.getMessage());
            return Result.INVALID;
        }
        catch (RuntimeException ex) {
            failed(ex);
            return Result.UNAVAILABLE;
        }
        succeeded();
        return Result.SCHEDULED;
    }

    private synchronized void failed(RuntimeException failure) {
        this.failures++;
        if (this.failures == 1) {
            logger.warn("Messages from {} cannot be scheduled in queue '{}'; they stay in the broker, and are tried "
                    + "again until the store takes them", this.source, this.queue, failure);
        }
    }

    private synchronized void succeeded() {
        if (this.failures > 0) {
            logger.info("Messages from {} are scheduled in queue '{}' again, after {}", this.source, this.queue,
                    Texts.count(this.failures, "failed attempt"));
            this.failures = 0;
        }
    }

    /** Returns how long to wait before the next attempt. */
    synchronized Duration untilRetry() {
        Duration wait = SHORTEST_WAIT.multipliedBy(1L << Math.min(10, Math.max(0, this.failures - 1)));
        return (wait.compareTo(LONGEST_WAIT) < 0) ? wait : LONGEST_WAIT;
    }

    /** Describes how intake treated a message. */
    enum Result {

        /** It is in the queue. */
        SCHEDULED,

        /** It has no header for a delay. */
        NOT_DELAYED,

        /** It can never be scheduled, which was logged. */
        INVALID,

        /** The store does not take it now. */
        UNAVAILABLE

    }

}
