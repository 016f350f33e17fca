package io.delayqueue.depot;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.StoredMessage;
import io.delayqueue.intake.IntakeOutcome;
import io.delayqueue.intake.IntakeScheduler;
import io.delayqueue.intake.KafkaIntake;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;

import static io.delayqueue.depot.KafkaBroker.header;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Tests the scheduling of delayed records of Kafka. */
@Tag("server")
@ExtendWith(OutputCaptureExtension.class)
class KafkaIntakeTests extends DepotTestBase {

    private final KafkaBroker kafka = KafkaBroker.SHARED;

    private final String topic = this.kafka.newTopic(1, Map.of());

    private void start(String... settings) {
        List<String> all = new ArrayList<>(List.of("--spring.kafka.bootstrap-servers=" + this.kafka.bootstrapServers(),
                "--delayqueue.intake.kafka[" + this.topic + "].to=" + QUEUE,
                "--delayqueue.intake.kafka[" + this.topic + "].group-id=" + this.topic,
                "--delayqueue.command-timeout=10s"));
        all.addAll(List.of(settings));
        start(Depot.class, all.toArray(String[]::new));
    }

    private void produce(String key, String payload, Map<String, String> headers) {
        this.kafka.send(this.topic, key, payload, headers);
    }

    private StoredMessage awaitMessage(String id) {
        await().atMost(LIMIT).until(() -> queue().find(QUEUE, id).isPresent());
        return queue().find(QUEUE, id).orElseThrow();
    }

    @Test
    void aRecordWithADueTimeIsScheduledAndOthersAreNot() {
        start();
        produce("k", "{}", Map.of());
        produce("k", "{\"total\":1}", Map.of("delayqueue-due", "2100-01-31T08:30:00Z", "tag", "gold"));

        await().atMost(LIMIT).until(() -> queue().statistics(QUEUE).scheduled() == 1);
        ConsumerRecord<String, String> record = this.kafka.records(this.topic).get(1);
        StoredMessage message = awaitMessage("%s-0-1-%d".formatted(this.topic, record.timestamp()));
        assertThat(message.dueAt()).isEqualTo(Instant.parse("2100-01-31T08:30:00Z"));
        assertThat(message.payload()).isEqualTo("{\"total\":1}");
        assertThat(message.headers()).isEqualTo(Map.of("tag", "gold", "delayqueue-key", "k"));
        await().atMost(LIMIT).until(() -> this.kafka.committed(this.topic, this.topic) == 2);
        assertThat(queue().statistics(QUEUE).scheduled()).isOne();
        assertThat(intake().scheduler().count(IntakeOutcome.SKIPPED)).isOne();
        assertThat(intake().scheduler().count(IntakeOutcome.SCHEDULED)).isOne();
    }

    /** A delay for a topic: the consumers of the second topic get key and content. */
    @Test
    void aDelayedRecordReachesTheTopicThatItsQueueIsForwardedTo() {
        String later = this.kafka.newTopic(1, Map.of());
        start("--delayqueue.forward.orders.to=kafka:" + later);
        produce("customer-7", "{\"total\":1}", Map.of("delayqueue-delay", "PT0.5S", "tag", "gold"));

        await().atMost(LIMIT).until(() -> this.kafka.records(later).size() == 1);
        ConsumerRecord<String, String> record = this.kafka.records(later).get(0);
        assertThat(record.key()).isEqualTo("customer-7");
        assertThat(record.value()).isEqualTo("{\"total\":1}");
        assertThat(header(record, "tag")).isEqualTo("gold");
        assertThat(record.headers().lastHeader("delayqueue-delay")).isNull();
        assertThat(record.headers().lastHeader("delayqueue-key")).isNull();
    }

    /** Boot's default for consumers reads the records of aborted transactions. */
    @Test
    void aRecordOfAnAbortedTransactionIsNotScheduled() {
        start();
        this.kafka.sendInTransaction(this.topic, "aborted", Map.of("delayqueue-delay", "PT1H"), false);
        this.kafka.sendInTransaction(this.topic, "committed", Map.of("delayqueue-delay", "PT1H"), true);

        await().atMost(LIMIT).until(() -> queue().statistics(QUEUE).scheduled() > 0);
        ConsumerRecord<String, String> committed = this.kafka.records(this.topic).get(0);
        awaitMessage("%s-0-%d-%d".formatted(this.topic, committed.offset(), committed.timestamp()));
        assertThat(queue().statistics(QUEUE).scheduled()).isOne();
    }

    /** Offsets that were not committed cause a second read, as after a crash. */
    @Test
    void aRecordThatIsReadTwiceIsScheduledOnce() {
        start();
        produce("k", "1", Map.of("delayqueue-delay", "PT1H"));
        produce("k", "2", Map.of("delayqueue-delay", "PT1H", "delayqueue-id", "own"));
        awaitMessage("own");
        stopApplication();
        this.kafka.rewind(this.topic, this.topic);

        start();
        produce("k", "3", Map.of("delayqueue-delay", "PT1H", "delayqueue-id", "last"));
        awaitMessage("last");

        assertThat(intake().scheduler().count(IntakeOutcome.KEPT)).isEqualTo(2);
        assertThat(queue().statistics(QUEUE).scheduled()).isEqualTo(3);
        assertThat(awaitMessage("own").payload()).isEqualTo("2");
    }

    /** Offsets are committed only once Redis has the messages. */
    @Test
    void recordsWaitInTheBrokerWhileRedisIsAway(CapturedOutput output) {
        start();
        produce("k", "1", Map.of("delayqueue-delay", "PT1H", "delayqueue-id", "before"));
        awaitMessage("before");
        await().atMost(LIMIT).until(() -> this.kafka.committed(this.topic, this.topic) == 1);

        redis.kill();
        for (int i = 0; i < 10; i++) {
            produce("k", "1", Map.of("delayqueue-delay", "PT1H", "delayqueue-id", "during-" + i));
        }
        await().atMost(LIMIT).until(() -> count(output, "cannot be scheduled in queue 'orders'") == 1);
        assertThat(this.kafka.committed(this.topic, this.topic)).isOne();
        assertThat(intake().problem().text()).startsWith("the store does not take its messages");
        redis.restart();

        for (int i = 0; i < 10; i++) {
            awaitMessage("during-" + i);
        }
        await().atMost(LIMIT).until(() -> this.kafka.committed(this.topic, this.topic) == 11);
        assertThat(count(output, "cannot be scheduled in queue 'orders'")).isOne();
        assertThat(count(output, "are scheduled in queue 'orders' again")).isOne();
        assertThat(intake().problem()).isNull();
        assertThat(intake().scheduler().count(IntakeOutcome.FAILED)).isPositive();
    }

    /** Invalid records stop neither the topic nor the application. */
    @Test
    void invalidAndForwardedRecordsAreLoggedAndSkipped(CapturedOutput output) {
        start();
        produce("k", "no json", Map.of("delayqueue-delay", "PT1H"));
        produce("k", "1", Map.of("delayqueue-delay", "soon"));
        produce("k", "1", new HashMap<>(
                Map.of("delayqueue-due", "2020-01-01T00:00:00Z", "delayqueue-attempt", "1", "delayqueue-queue", "q")));
        produce("k", "1", Map.of("delayqueue-delay", "PT1H", "delayqueue-id", "valid"));

        awaitMessage("valid");
        assertThat(queue().statistics(QUEUE).scheduled()).isOne();
        assertThat(count(output, "Message from offset 0 of partition 0 of topic '" + this.topic)).isOne();
        assertThat(count(output, "must be in ISO 8601")).isOne();
        assertThat(count(output, "it was forwarded from queue 'q'")).isOne();
    }

    /** Nothing is lost, and the outage shows. */
    @Test
    @Tag("matrix")
    void recordsAreReadOnceTheBrokerIsBack() {
        start();
        produce("k", "1", Map.of("delayqueue-delay", "PT1H", "delayqueue-id", "before"));
        awaitMessage("before");
        this.kafka.proxy().refuse();
        try {
            await().atMost(Duration.ofMinutes(2)).until(() -> intake().problem() != null);
            assertThat(intake().problem().text()).isEqualTo("Kafka does not answer its consumer");
        }
        finally {
            this.kafka.proxy().pass();
        }
        produce("k", "1", Map.of("delayqueue-delay", "PT1H", "delayqueue-id", "after"));

        awaitMessage("after");
        await().atMost(LIMIT).until(() -> intake().problem() == null);
    }

    /**
     * A right that is missing, or given late, must not end the intake until a restart.
     */
    @Test
    @Tag("matrix")
    void anIntakeContinuesOnceItsRightsAreCorrected() {
        this.kafka.deny(AclOperation.READ, this.topic);
        start();
        produce("k", "1", Map.of("delayqueue-delay", "PT1H", "delayqueue-id", "denied"));
        await().atMost(LIMIT).until(() -> intake().problem() != null);
        assertThat(intake().problem().text())
            .isEqualTo("Kafka rejects the consumer (AUTHORIZATION); it tries again every 10 s");
        assertThat(queue().find(QUEUE, "denied")).isEmpty();

        this.kafka.allow(this.topic);

        awaitMessage("denied");
        await().atMost(LIMIT).until(() -> intake().problem() == null);
    }

    /** The offsets of a topic begin again when it is created again. */
    @Test
    void theRecordsOfATopicThatWasCreatedAgainAreOtherMessages() {
        start();
        produce("k", "\"before\"", Map.of("delayqueue-delay", "PT1H"));
        await().atMost(LIMIT).until(() -> queue().statistics(QUEUE).scheduled() == 1);
        await().atMost(LIMIT).until(() -> this.kafka.committed(this.topic, this.topic) == 1);
        stopApplication();
        this.kafka.deleteTopic(this.topic);
        this.kafka.createTopic(this.topic, 1, Map.of());

        start();
        produce("k", "\"after\"", Map.of("delayqueue-delay", "PT1H"));

        await().atMost(LIMIT).until(() -> queue().statistics(QUEUE).scheduled() == 2);
    }

    /** A key may be a number or a structure in binary form, and so may a header. */
    @Test
    void keysAndHeadersThatAreNoTextReachTheTargetAsTheyWere() {
        String later = this.kafka.newTopic(1, Map.of());
        start("--delayqueue.forward.orders.to=kafka:" + later);
        byte[] key = { 0, 0, 0, 0, 0, 0, (byte) 0xC8, 1 };
        byte[] header = { (byte) 0xFF, 0, 1 };
        this.kafka.send(this.topic, key, "1".getBytes(StandardCharsets.UTF_8),
                Map.of("delayqueue-delay", "PT0.1S".getBytes(StandardCharsets.UTF_8), "signature", header, "text",
                        "\u00e4".getBytes(StandardCharsets.UTF_8)));

        await().atMost(LIMIT).until(() -> this.kafka.records(later).size() == 1);
        ConsumerRecord<byte[], byte[]> record = this.kafka.records(later, new ByteArrayDeserializer()).get(0);
        assertThat(record.key()).isEqualTo(key);
        assertThat(record.headers().lastHeader("signature").value()).isEqualTo(header);
        assertThat(record.headers().lastHeader("text").value()).asString(StandardCharsets.UTF_8).isEqualTo("\u00e4");
    }

    /**
     * Each send of a queue with a journal takes seconds while Redis is away. The consumer
     * must not leave its group meanwhile, or it would begin again at the same record.
     */
    @Test
    @Tag("matrix")
    void slowSendsDoNotMakeTheConsumerLeaveItsGroup() {
        List<String> sent = new CopyOnWriteArrayList<>();
        DelayQueueOperations slow = mock(DelayQueueOperations.class);
        given(slow.send(any(DelayedMessage.class))).willAnswer((call) -> {
            DelayedMessage message = call.getArgument(0);
            // Real time: what a send takes until it answers RECORDED.
            await().pollDelay(Duration.ofMillis(500)).until(() -> true);
            sent.add(message.id().orElseThrow());
            return new SendResult(QUEUE, message.id().orElseThrow(), null, SendOutcome.RECORDED);
        });
        for (int i = 0; i < 30; i++) {
            produce("k", "1", Map.of("delayqueue-delay", "PT1H", "delayqueue-id", "slow-" + i));
        }
        KafkaIntake intake = intakeOf(slow, Map.of("max.poll.interval.ms", 6000, "session.timeout.ms", 6000));
        intake.start();
        try {
            await().atMost(LIMIT).until(() -> this.kafka.committed(this.topic, this.topic) == 30);
        }
        finally {
            intake.stop();
        }
        assertThat(sent).hasSize(30).doesNotHaveDuplicates();
    }

    /** A batch of slow sends may take longer than a shutdown has time. */
    @Test
    void aStopEndsABatchAfterTheCurrentRecord() {
        List<String> sent = new CopyOnWriteArrayList<>();
        AtomicBoolean stopping = new AtomicBoolean();
        AtomicBoolean stopped = new AtomicBoolean();
        DelayQueueOperations slow = mock(DelayQueueOperations.class);
        given(slow.send(any(DelayedMessage.class))).willAnswer((call) -> {
            String id = call.<DelayedMessage>getArgument(0).id().orElseThrow();
            sent.add(id);
            await().atMost(LIMIT).untilTrue(stopping);
            return new SendResult(QUEUE, id, null, SendOutcome.SCHEDULED);
        });
        for (int i = 0; i < 10; i++) {
            produce("k", "1", Map.of("delayqueue-delay", "PT1H", "delayqueue-id", "order-" + i));
        }
        KafkaIntake intake = intakeOf(slow, Map.of());
        intake.start();
        try {
            await().atMost(LIMIT).until(() -> !sent.isEmpty());
        }
        finally {
            intake.stop(() -> stopped.set(true));
            stopping.set(true);
        }

        await().atMost(LIMIT).untilTrue(stopped);
        assertThat(sent).containsExactly("order-0");
        assertThat(this.kafka.committed(this.topic, this.topic)).isOne();
    }

    /**
     * The records before the one that is not stored are committed, which fails. Those
     * behind must be read again, and not be skipped.
     */
    @Test
    void recordsThatAreNotStoredAreReadAgainAfterACommitThatFails() {
        Set<String> stored = ConcurrentHashMap.newKeySet();
        AtomicBoolean away = new AtomicBoolean(true);
        AtomicBoolean cut = new AtomicBoolean();
        DelayQueueOperations operations = mock(DelayQueueOperations.class);
        given(operations.send(any(DelayedMessage.class))).willAnswer((call) -> {
            String id = call.<DelayedMessage>getArgument(0).id().orElseThrow();
            if (!id.equals("order-0") && away.get()) {
                if (cut.compareAndSet(false, true)) {
                    this.kafka.proxy().refuse();
                }
                throw new StoreUnavailableException("No answer", DelayQueueException.Effect.NONE, null);
            }
            stored.add(id);
            return new SendResult(QUEUE, id, null, SendOutcome.SCHEDULED);
        });
        for (int i = 0; i < 10; i++) {
            produce("k", "1", Map.of("delayqueue-delay", "PT1H", "delayqueue-id", "order-" + i));
        }
        KafkaIntake intake = intakeOf(operations, Map.of("default.api.timeout.ms", 1000));
        intake.start();
        try {
            await().atMost(LIMIT).untilTrue(cut);
            // Real time: the commit fails after a second, and is retried in vain.
            await().pollDelay(Duration.ofSeconds(4)).until(() -> true);
            away.set(false);
            this.kafka.proxy().pass();

            await().atMost(LIMIT).until(() -> stored.size() == 10);
            await().atMost(LIMIT).until(() -> this.kafka.committed(this.topic, this.topic) == 10);
            await().atMost(LIMIT).until(() -> intake.problem() == null);
        }
        finally {
            this.kafka.proxy().pass();
            intake.stop();
        }
    }

    /** Other consumers of the application may need to know that they have no offset. */
    @Test
    void aNewGroupBeginsAtTheEarliestOffsetIfTheConsumersHaveNoResetPolicy() {
        produce("k", "1", Map.of("delayqueue-delay", "PT1H", "delayqueue-id", "first"));
        start("--spring.kafka.consumer.auto-offset-reset=none");

        awaitMessage("first");
        assertThat(intake().isRunning()).isTrue();
    }

    /** An error of the JVM ends the consumer, which operators have to notice. */
    @Test
    @Tag("matrix")
    void anIntakeThatHasEndedIsAProblemUntilItIsStopped() {
        DelayQueueOperations broken = mock(DelayQueueOperations.class);
        given(broken.send(any(DelayedMessage.class))).willThrow(new OutOfMemoryError("test"));
        produce("k", "1", Map.of("delayqueue-delay", "PT1H"));
        KafkaIntake intake = intakeOf(broken, Map.of());
        intake.start();
        try {
            await().atMost(LIMIT).until(() -> intake.status().problem() != null);
            assertThat(intake.status().running()).isFalse();
            assertThat(intake.status().problem()).contains("a consumer has stopped (ERROR)");
        }
        finally {
            intake.stop();
        }
        assertThat(intake.status().problem()).isNull();
    }

    private KafkaIntake intakeOf(DelayQueueOperations operations, Map<String, Object> settings) {
        Map<String, Object> all = new HashMap<>(settings);
        all.put("bootstrap.servers", this.kafka.bootstrapServers());
        return new KafkaIntake(new DefaultKafkaConsumerFactory<>(all), this.topic, this.topic, 1,
                new IntakeScheduler(this.topic, new QueueName(QUEUE), new EnvelopeCodec(JsonMapper.shared()),
                        operations, System::nanoTime));
    }

}
