package io.delayqueue.intake;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.kafka.listener.CommonErrorHandler;
import org.springframework.kafka.listener.ListenerUtils;
import org.springframework.kafka.listener.MessageListenerContainer;

/**
 * Moves a consumer of Kafka back after a failed commit or read, so that it reads again
 * the records that it has not committed. Spring's default handler would call the listener
 * again, ignore its answer, and commit records that are not stored. A failure is a
 * problem of the intake until the polls of that consumer succeed again.
 * <p>
 * <strong>Threads.</strong> The consumer threads of the container call it. The lock of
 * the object guards its state.
 */
final class RereadingErrorHandler implements CommonErrorHandler {

    private static final Logger logger = LoggerFactory.getLogger(RereadingErrorHandler.class);

    /** The wait after a failure, as a failure may be immediate. */
    private static final Duration RETRY = Duration.ofSeconds(1);

    /**
     * How many polls in a row show that a consumer works. One may succeed between two
     * failures: it returns the records whose commit fails, or those of other partitions.
     */
    private static final int WORKING_POLLS = 2;

    private final IntakeScheduler scheduler;

    private final ProblemTracker problem;

    /** The consumers that have failed, with the polls that have to succeed. */
    private final Map<Consumer<?, ?>, Integer> failing = new HashMap<>();

    private final boolean earliest;

    /**
     * Creates a handler.
     * @param problem gets the reason while a consumer fails
     * @param earliest whether a partition without a committed offset is read from its
     * first record
     */
    RereadingErrorHandler(IntakeScheduler scheduler, ProblemTracker problem, boolean earliest) {
        this.scheduler = scheduler;
        this.problem = problem;
        this.earliest = earliest;
    }

    @Override
    public boolean seeksAfterHandling() {
        return true;
    }

    @Override
    public boolean isAckAfterHandle() {
        return false;
    }

    @Override
    public void handleBatch(Exception thrown, ConsumerRecords<?, ?> batch, Consumer<?, ?> consumer,
            MessageListenerContainer container, Runnable invokeListener) {
        logger.warn(
                "A consumer of {} reads its last {} records again for queue '{}', because their offsets are not "
                        + "committed; the queue keeps one message of each id",
                this.scheduler.source(), batch.count(), this.scheduler.queue(), thrown);
        failed(consumer, "a consumer of Kafka cannot commit its offsets: " + thrown);
        Set<TopicPartition> assigned = consumer.assignment();
        batch.partitions()
            .stream()
            .filter(assigned::contains)
            .forEach((partition) -> consumer.seek(partition, batch.records(partition).get(0).offset()));
        pause(container);
    }

    /**
     * Moves the consumer to its committed offsets. A poll that commits for a rebalance
     * and fails has read records, and drops them.
     */
    @Override
    public void handleOtherException(Exception thrown, Consumer<?, ?> consumer, MessageListenerContainer container,
            boolean batchListener) {
        logger.warn("A consumer of {} has failed, and reads again from its committed offsets for queue '{}'",
                this.scheduler.source(), this.scheduler.queue(), thrown);
        failed(consumer, "a consumer of Kafka fails: " + thrown);
        pause(container);
        while (!seekToCommitted(consumer) && container.isRunning() && !Thread.currentThread().isInterrupted()) {
            pause(container);
        }
    }

    /** Returns whether the committed offsets are known, and will be read from. */
    private boolean seekToCommitted(Consumer<?, ?> consumer) {
        try {
            Set<TopicPartition> assigned = consumer.assignment();
            Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(assigned);
            for (TopicPartition partition : assigned) {
                OffsetAndMetadata offset = committed.get(partition);
                if (offset != null) {
                    consumer.seek(partition, offset.offset());
                }
                else if (this.earliest) {
                    consumer.seekToBeginning(Set.of(partition));
                }
            }
            return true;
        }
        catch (KafkaException ex) {
            failed(consumer, "Kafka does not return the committed offsets: " + ex);
            logger.debug("Cannot read the committed offsets of {}", this.scheduler.source(), ex);
            return false;
        }
    }

    private synchronized void failed(Consumer<?, ?> consumer, String reason) {
        this.failing.put(consumer, WORKING_POLLS);
        this.problem.begin(reason);
    }

    /** Records that a poll of a consumer has succeeded, with or without records. */
    synchronized void polled(Consumer<?, ?> consumer) {
        Integer polls = this.failing.remove(consumer);
        if (polls != null && polls > 1) {
            this.failing.put(consumer, polls - 1);
        }
        else if (this.failing.isEmpty()) {
            this.problem.end();
        }
    }

    /** Forgets the consumers of the start before. */
    synchronized void reset() {
        this.failing.clear();
        this.problem.end();
    }

    private static void pause(MessageListenerContainer container) {
        try {
            ListenerUtils.stoppableSleep(container, RETRY.toMillis());
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

}
