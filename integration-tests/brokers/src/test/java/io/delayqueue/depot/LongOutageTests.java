package io.delayqueue.depot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DelayedMessage;
import io.delayqueue.QueueStatistics;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests that brokers which are away for ten minutes, while messages are sent, cost none
 * of them, no attempt, no order of a group, and two lines of the log.
 */
@Tag("server")
@Tag("faults")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
@ExtendWith(OutputCaptureExtension.class)
class LongOutageTests extends DepotTestBase {

    private static final Duration OUTAGE = Duration.ofSeconds(Long.getLong("dq.outage.seconds", 600));

    private static final int GROUPS = 10;

    private final KafkaBroker kafka = KafkaBroker.SHARED;

    private final AmqpBroker amqp = AmqpBroker.SHARED;

    @AfterEach
    void connect() {
        this.kafka.proxy().pass();
        this.amqp.proxy().pass();
    }

    @Test
    void tenMinutesAwayCostNothing(CapturedOutput output) {
        String topic = this.kafka.newTopic(3, Map.of());
        String target = "queue-" + UUID.randomUUID();
        this.amqp.declareQueue(target, "long-outage", "created");
        List<String> settings = new ArrayList<>(this.amqp.settings());
        settings.add("--spring.kafka.bootstrap-servers=" + this.kafka.bootstrapServers());
        settings.add("--delayqueue.forward.orders.to=kafka:" + topic);
        settings.add("--delayqueue.forward.invoices.to=rabbit:long-outage/created");
        settings.add("--delayqueue.listener.max-attempts=1");
        start(Depot.class, settings.toArray(String[]::new));
        int sent = send(0, Duration.ofSeconds(2));

        this.kafka.proxy().refuse();
        this.amqp.proxy().refuse();
        sent = send(sent, OUTAGE);
        assertThat(queue().statistics(QUEUE).dead() + queue().statistics("invoices").dead()).isZero();
        this.kafka.proxy().pass();
        this.amqp.proxy().pass();
        sent = send(sent, Duration.ofSeconds(20));

        assertAllForwarded();
        await().atMost(LIMIT)
            .untilAsserted(() -> assertThat(queue().statistics("invoices"))
                .isEqualTo(new QueueStatistics("invoices", 0, 0, 0, 0, null)));
        List<String> records = this.kafka.records(topic)
            .stream()
            .map((record) -> KafkaBroker.header(record, "delayqueue-id"))
            .toList();
        assertInOrder(records, sent);
        assertInOrder(
                this.amqp.take(target).stream().map((each) -> each.getMessageProperties().getMessageId()).toList(),
                sent);
        assertThat(this.kafka.records(topic))
            .allMatch((record) -> KafkaBroker.header(record, "delayqueue-attempt").equals("1"));
        assertThat(count(output, "cannot be forwarded to")).isEqualTo(2);
        assertThat(count(output, BACK)).isEqualTo(2);
    }

    private int send(int first, Duration time) {
        int next = first;
        long end = System.nanoTime() + time.toNanos();
        while (end - System.nanoTime() > 0) {
            for (String queue : List.of(QUEUE, "invoices")) {
                queue().send(DelayedMessage.builder(queue, next).id(id(next)).group("g" + next % GROUPS).build());
            }
            next++;
            // Real time: messages arrive during the whole outage.
            await().pollDelay(50, TimeUnit.MILLISECONDS).until(() -> true);
        }
        return next;
    }

    private static String id(int number) {
        return "g%d-%06d".formatted(number % GROUPS, number);
    }

    private static void assertInOrder(List<String> ids, int sent) {
        List<String> first = ids.stream().distinct().toList();
        assertThat(first).hasSize(sent);
        for (int group = 0; group < GROUPS; group++) {
            String prefix = "g" + group + "-";
            assertThat(first.stream().filter((id) -> id.startsWith(prefix)).toList()).isSorted();
        }
    }

}
