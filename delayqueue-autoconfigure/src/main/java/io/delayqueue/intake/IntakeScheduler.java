package io.delayqueue.intake;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.PayloadTooLargeException;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.store.Texts;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Schedules the messages of one source in one queue. While the store does not take them,
 * the caller keeps them, and tries again after growing waits. The begin and the end of
 * such a time are logged, and the first invalid messages of each minute.
 * <p>
 * <strong>Threads.</strong> Any thread schedules.
 */
public final class IntakeScheduler {

    private static final Logger logger = LoggerFactory.getLogger(IntakeScheduler.class);

    private static final Duration SHORTEST_WAIT = Duration.ofSeconds(1);

    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private static final int LOGGED_PER_MINUTE = 10;

    private static final int MAX_REASON = 500;

    private final String source;

    private final QueueName queue;

    private final IntakeReader reader;

    private final DelayQueueOperations operations;

    private final LongSupplier nanoTime;

    private final Map<IntakeOutcome, LongAdder> counts = Arrays.stream(IntakeOutcome.values())
        .collect(Collectors.toUnmodifiableMap((outcome) -> outcome, (outcome) -> new LongAdder()));

    private final ProblemTracker problem;

    // The following fields are guarded by this object.

    /** The failed attempts since the last success. */
    private int failures;

    /** When the last attempt failed. */
    private long failedAt;

    /** The attempts that have not ended. */
    private int attempts;

    private long minuteBegin;

    private int invalidInMinute;

    /**
     * Creates a scheduler.
     * @param source the broker and its topic or queue, such as {@code kafka:orders}
     */
    public IntakeScheduler(String source, QueueName queue, EnvelopeCodec codec, DelayQueueOperations operations,
            LongSupplier nanoTime) {
        this.source = source;
        this.queue = queue;
        this.reader = new IntakeReader(queue, codec);
        this.operations = operations;
        this.nanoTime = nanoTime;
        this.problem = new ProblemTracker(nanoTime);
        this.minuteBegin = nanoTime.getAsLong();
    }

    /** Returns the broker and its topic or queue, such as {@code kafka:orders}. */
    public String source() {
        return this.source;
    }

    /** Returns the queue in which the messages are scheduled. */
    public QueueName queue() {
        return this.queue;
    }

    /** Returns how many messages have had an outcome, each attempt counted. */
    public long count(IntakeOutcome outcome) {
        return counter(outcome).sum();
    }

    private LongAdder counter(IntakeOutcome outcome) {
        LongAdder counter = this.counts.get(outcome);
        if (counter == null) {
            throw new IllegalArgumentException("Unknown outcome " + outcome);
        }
        return counter;
    }

    /**
     * Returns why the store takes no messages; {@code null} if it does, or if no message
     * has been tried for a minute: another process may have them now.
     */
    synchronized @Nullable IntakeProblem problem() {
        return isUnknown() ? null : this.problem.current();
    }

    private boolean isUnknown() {
        return this.attempts == 0 && this.nanoTime.getAsLong() - this.failedAt > MINUTE;
    }

    /** Records that a message is left to other consumers. */
    void skipped() {
        counter(IntakeOutcome.SKIPPED).increment();
    }

    /** Schedules a message. */
    IntakeOutcome schedule(IntakeMessage message) {
        IntakeOutcome outcome = send(message);
        counter(outcome).increment();
        return outcome;
    }

    private IntakeOutcome send(IntakeMessage message) {
        begin();
        try {
            SendOutcome outcome = this.operations.send(this.reader.read(message)).outcome();
            succeeded();
            return (outcome == SendOutcome.KEPT) ? IntakeOutcome.KEPT : IntakeOutcome.SCHEDULED;
        }
        catch (InvalidIntakeException | PayloadTooLargeException ex) {
            invalid(message, Texts.line(String.valueOf(ex.getMessage()), MAX_REASON));
            return IntakeOutcome.INVALID;
        }
        catch (RuntimeException ex) {
            failed(ex);
            return IntakeOutcome.FAILED;
        }
        finally {
            end();
        }
    }

    private synchronized void begin() {
        if (this.failures > 0 && isUnknown()) {
            this.failures = 0;
            this.problem.end();
        }
        this.attempts++;
    }

    private synchronized void end() {
        this.attempts--;
    }

    private synchronized void invalid(IntakeMessage message, String reason) {
        long now = this.nanoTime.getAsLong();
        if (now - this.minuteBegin >= MINUTE) {
            this.minuteBegin = now;
            this.invalidInMinute = 0;
        }
        this.invalidInMinute++;
        if (this.invalidInMinute <= LOGGED_PER_MINUTE) {
            logger.error("Message from {} cannot be scheduled in queue '{}', and is not tried again: {}{}", message,
                    this.queue, reason, (this.invalidInMinute == LOGGED_PER_MINUTE)
                            ? ". Further ones are logged at debug level until a minute is over" : "");
        }
        else {
            logger.debug("Message from {} cannot be scheduled in queue '{}': {}", message, this.queue, reason);
        }
    }

    private synchronized void failed(RuntimeException failure) {
        this.failures++;
        this.failedAt = this.nanoTime.getAsLong();
        this.problem.begin("the store does not take its messages: " + failure);
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
            this.problem.end();
        }
    }

    /** Returns how long to wait before the next attempt. */
    synchronized Duration untilRetry() {
        Duration wait = SHORTEST_WAIT.multipliedBy(1L << Math.min(10, Math.max(0, this.failures - 1)));
        return (wait.compareTo(LONGEST_WAIT) < 0) ? wait : LONGEST_WAIT;
    }

}
