package io.delayqueue.depot;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.StoredMessage;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static io.delayqueue.depot.KafkaBroker.header;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
                "--delayqueue.command-timeout=1s"));
        all.addAll(List.of(settings));
        start(Depot.class, all.toArray(String[]::new));
    }

    private void produce(String key, String payload, Map<String, String> headers) {
        ProducerRecord<String, String> record = new ProducerRecord<>(this.topic, key, payload);
        headers.forEach((name, value) -> record.headers().add(name, value.getBytes(StandardCharsets.UTF_8)));
        this.kafka.send(record);
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

        StoredMessage message = awaitMessage(this.topic + "-0-1");
        assertThat(message.dueAt()).isEqualTo(Instant.parse("2100-01-31T08:30:00Z"));
        assertThat(message.payload()).isEqualTo("{\"total\":1}");
        assertThat(message.headers()).isEqualTo(Map.of("tag", "gold", "delayqueue-key", "k"));
        await().atMost(LIMIT).until(() -> this.kafka.committed(this.topic, this.topic) == 2);
        assertThat(queue().statistics(QUEUE).scheduled()).isOne();
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
        redis.restart();

        for (int i = 0; i < 10; i++) {
            awaitMessage("during-" + i);
        }
        await().atMost(LIMIT).until(() -> this.kafka.committed(this.topic, this.topic) == 11);
        assertThat(count(output, "cannot be scheduled in queue 'orders'")).isOne();
        assertThat(count(output, "are scheduled in queue 'orders' again")).isOne();
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

}
