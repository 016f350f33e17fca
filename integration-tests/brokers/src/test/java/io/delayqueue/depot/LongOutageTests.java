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
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.core.Queue;
import org.springframework.amqp.rabbit.connection.CorrelationData;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.messaging.MessageChannel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests that brokers which are away for ten minutes, while messages are sent, cost none
 * of them, no attempt, no order of a group, and two lines of the log for each forward.
 */
@Tag("server")
@Tag("faults")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
@ExtendWith(OutputCaptureExtension.class)
class LongOutageTests extends DepotTestBase {

    private static final Duration OUTAGE = Duration.ofSeconds(Long.getLong("dq.outage.seconds", 600));

    private static final int GROUPS = 10;

    /** Forwarded to Kafka, to AMQP, and to a channel with AMQP behind it. */
    private static final List<String> QUEUES = List.of(QUEUE, "invoices", "receipts");

    private final KafkaBroker kafka = KafkaBroker.SHARED;

    private AmqpBroker amqp;

    @AfterEach
    void connect() {
        this.kafka.proxy().pass();
        if (this.amqp != null) {
            this.amqp.proxy().pass();
        }
    }

    @ParameterizedTest
    @EnumSource
    void tenMinutesAwayCostNothing(AmqpBroker.Product product, CapturedOutput output) {
        this.amqp = product.shared();
        String topic = this.kafka.newTopic(3, Map.of());
        String target = "queue-" + UUID.randomUUID();
        this.amqp.declareQueue(target, "long-outage", "created");
        this.amqp.declareQueue(new Queue("behind-" + target));
        List<String> settings = new ArrayList<>(this.amqp.settings());
        settings.add("--spring.kafka.bootstrap-servers=" + this.kafka.bootstrapServers());
        settings.add("--delayqueue.forward.orders.to=kafka:" + topic);
        settings.add("--delayqueue.forward.invoices.to=rabbit:long-outage/created");
        settings.add("--delayqueue.forward.receipts.to=channel:shipping");
        settings.add("--delayqueue.forward.receipts.unconfirmed=true");
        settings.add("--shipping.queue=behind-" + target);
        settings.add("--delayqueue.listener.max-attempts=1");
        // A busy machine stalls now and then, and the test is not about Redis.
        settings.add("--delayqueue.command-timeout=1m");
        start(Shipping.class, settings.toArray(String[]::new));
        int sent = send(0, Duration.ofSeconds(2));

        this.kafka.proxy().refuse();
        this.amqp.proxy().refuse();
        sent = send(sent, OUTAGE);
        assertThat(QUEUES).allSatisfy((queue) -> assertThat(queue().statistics(queue).dead()).isZero());
        this.kafka.proxy().pass();
        this.amqp.proxy().pass();
        sent = send(sent, Duration.ofSeconds(20));

        await().atMost(LIMIT)
            .untilAsserted(() -> assertThat(QUEUES).allSatisfy((queue) -> assertThat(queue().statistics(queue))
                .isEqualTo(new QueueStatistics(queue, 0, 0, 0, 0, null))));
        List<String> records = this.kafka.records(topic)
            .stream()
            .map((record) -> KafkaBroker.header(record, "delayqueue-id"))
            .toList();
        assertInOrder(records, sent);
        assertInOrder(ids(target), sent);
        assertInOrder(ids("behind-" + target), sent);
        assertThat(this.kafka.records(topic))
            .allMatch((record) -> KafkaBroker.header(record, "delayqueue-attempt").equals("1"));
        assertThat(count(output, "cannot be forwarded to")).isEqualTo(3);
        assertThat(count(output, BACK)).isEqualTo(3);
    }

    private List<String> ids(String target) {
        return this.amqp.take(target)
            .stream()
            .map((message) -> message.getMessageProperties().<String>getHeader("delayqueue-id"))
            .toList();
    }

    private int send(int first, Duration time) {
        int next = first;
        long end = System.nanoTime() + time.toNanos();
        while (end - System.nanoTime() > 0) {
            for (String queue : QUEUES) {
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

    /**
     * An application with a channel that waits for the confirmation of its broker. Not
     * annotated as a configuration, so that other applications of this package do not
     * find it.
     */
    @Import(Depot.class)
    static class Shipping {

        @Bean
        MessageChannel shipping(RabbitTemplate template, @Value("${shipping.queue}") String queue) {
            return (message, timeout) -> {
                MessageProperties properties = new MessageProperties();
                message.getHeaders().forEach((name, value) -> properties.setHeader(name, value.toString()));
                CorrelationData correlation = new CorrelationData();
                template.send("", queue, new Message((byte[]) message.getPayload(), properties), correlation);
                return correlation.getFuture().orTimeout(timeout, TimeUnit.MILLISECONDS).join().ack();
            };
        }

    }

}
