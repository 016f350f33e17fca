package io.delayqueue.intake;

import java.util.List;
import java.util.Map;
import java.util.Set;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.QueueName;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.kafka.listener.MessageListenerContainer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Tests from where a consumer of Kafka continues after a failure. */
class RereadingErrorHandlerTests {

    private static final TopicPartition FIRST = new TopicPartition("late", 0);

    private static final TopicPartition SECOND = new TopicPartition("late", 1);

    private static final TopicPartition REVOKED = new TopicPartition("late", 2);

    private final IntakeScheduler scheduler = new IntakeScheduler("kafka:late", new QueueName("orders"),
            new EnvelopeCodec(JsonMapper.shared()), mock(DelayQueueOperations.class), System::nanoTime);

    private final ProblemTracker problem = new ProblemTracker(System::nanoTime);

    private final FailingConsumer consumer = new FailingConsumer(this.problem);

    private final MessageListenerContainer container = mock(MessageListenerContainer.class);

    @BeforeEach
    void assign() {
        this.consumer.assign(List.of(FIRST, SECOND));
        this.consumer.updateBeginningOffsets(Map.of(FIRST, 1L, SECOND, 1L));
        this.consumer.seek(FIRST, 9);
        this.consumer.seek(SECOND, 9);
    }

    private RereadingErrorHandler handler(boolean earliest) {
        return new RereadingErrorHandler(this.scheduler, this.problem, earliest);
    }

    private void failPoll(boolean earliest) {
        handler(earliest).handleOtherException(new TimeoutException("commit"), this.consumer, this.container, true);
    }

    private void failCommit(RereadingErrorHandler handler, ConsumerRecords<byte[], byte[]> batch) {
        handler.handleBatch(new TimeoutException("commit"), batch, this.consumer, this.container, () -> {
            throw new AssertionError("The listener must not be called");
        });
    }

    private static ConsumerRecord<byte[], byte[]> record(TopicPartition partition, long offset) {
        return new ConsumerRecord<>(partition.topic(), partition.partition(), offset, new byte[0], new byte[0]);
    }

    /** The container would commit a batch that the handler has passed on or confirms. */
    @Test
    void aBatchWhoseCommitFailsIsReadAgainByThePoll() {
        RereadingErrorHandler handler = handler(true);
        ConsumerRecords<byte[], byte[]> batch = new ConsumerRecords<>(
                Map.of(FIRST, List.of(record(FIRST, 4), record(FIRST, 5)), REVOKED, List.of(record(REVOKED, 2))),
                Map.of());

        failCommit(handler, batch);

        assertThat(this.consumer.position(FIRST)).isEqualTo(4);
        assertThat(this.consumer.position(SECOND)).isEqualTo(9);
        assertThat(handler.seeksAfterHandling()).isTrue();
        assertThat(handler.isAckAfterHandle()).isFalse();
    }

    /** A poll that fails may have read records before. */
    @Test
    void aFailedPollIsFollowedByOneFromTheCommittedOffsets() {
        this.consumer.commitSync(Map.of(FIRST, new OffsetAndMetadata(4)));

        failPoll(true);

        assertThat(this.consumer.position(FIRST)).isEqualTo(4);
        assertThat(this.consumer.position(SECOND)).as("the first record, as nothing is committed").isOne();
    }

    /** A new group does not get all records of the past. */
    @Test
    void withoutACommittedOffsetALaterBeginIsKept() {
        failPoll(false);

        assertThat(this.consumer.position(FIRST)).isEqualTo(9);
    }

    @Test
    void theCommittedOffsetsAreReadUntilKafkaReturnsThem() {
        given(this.container.isRunning()).willReturn(true);
        this.consumer.commitSync(Map.of(FIRST, new OffsetAndMetadata(4)));
        this.consumer.failures = 1;

        failPoll(true);

        assertThat(this.consumer.position(FIRST)).isEqualTo(4);
        assertThat(this.consumer.seen).isNotNull();
        assertThat(this.consumer.seen.text()).startsWith("Kafka does not return the committed offsets");
    }

    /**
     * A record that is corrupt, for example, fails each poll, with heartbeats between.
     */
    @Test
    void failedPollsAreAProblemUntilTwoHaveSucceeded() {
        RereadingErrorHandler handler = handler(true);
        for (int i = 0; i < 3; i++) {
            handler.handleOtherException(new KafkaException("corrupt"), this.consumer, this.container, true);
            // Records of another partition.
            handler.polled(this.consumer);
            assertThat(this.problem.current()).isNotNull()
                .extracting(IntakeProblem::text)
                .asString()
                .contains("corrupt");
        }

        handler.polled(this.consumer);
        assertThat(this.problem.current()).isNull();
    }

    /** The poll after it returns the same records. */
    @Test
    void aFailedCommitIsAProblemUntilTheBatchIsCommitted() {
        RereadingErrorHandler handler = handler(true);
        ConsumerRecords<byte[], byte[]> batch = new ConsumerRecords<>(Map.of(FIRST, List.of(record(FIRST, 4))),
                Map.of());
        failCommit(handler, batch);
        handler.polled(this.consumer);
        failCommit(handler, batch);
        handler.polled(this.consumer);
        assertThat(this.problem.current()).isNotNull()
            .extracting(IntakeProblem::text)
            .asString()
            .contains("cannot commit its offsets");

        handler.polled(this.consumer);
        assertThat(this.problem.current()).isNull();
    }

    @Test
    void aConsumerThatWorksDoesNotEndTheProblemOfAnother() {
        RereadingErrorHandler handler = handler(true);
        FailingConsumer other = new FailingConsumer(this.problem);
        handler.handleOtherException(new KafkaException("corrupt"), this.consumer, this.container, true);
        handler.polled(other);
        handler.polled(other);
        assertThat(this.problem.current()).isNotNull();

        handler.reset();
        assertThat(this.problem.current()).isNull();
    }

    @Test
    void aStopEndsTheReadsOfCommittedOffsets() {
        given(this.container.isRunning()).willReturn(false);
        this.consumer.failures = Integer.MAX_VALUE;

        failPoll(true);

        assertThat(this.consumer.position(FIRST)).isEqualTo(9);
        assertThat(this.problem.current()).isNotNull();
    }

    /** Returns no committed offsets at first. */
    private static final class FailingConsumer extends MockConsumer<byte[], byte[]> {

        private final ProblemTracker problem;

        private int failures;

        /** The problem during the latest call. */
        private @Nullable IntakeProblem seen;

        FailingConsumer(ProblemTracker problem) {
            super("earliest");
            this.problem = problem;
        }

        @Override
        public synchronized Map<TopicPartition, OffsetAndMetadata> committed(Set<TopicPartition> partitions) {
            this.seen = this.problem.current();
            if (this.failures > 0) {
                this.failures--;
                throw new TimeoutException("no answer");
            }
            return super.committed(partitions);
        }

    }

}
