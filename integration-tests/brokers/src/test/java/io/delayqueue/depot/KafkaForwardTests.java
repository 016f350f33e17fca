package io.delayqueue.depot;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import io.delayqueue.DelayedMessage;
import io.delayqueue.fixtures.redis.TcpProxy;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.acl.AclOperation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static io.delayqueue.depot.KafkaBroker.header;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests the forwarding of due messages to Kafka. */
@Tag("server")
@ExtendWith(OutputCaptureExtension.class)
class KafkaForwardTests extends DepotTestBase {

    private final KafkaBroker kafka = KafkaBroker.SHARED;

    private String timeout = "1s";

    private int maxBlockMillis = 500;

    @AfterEach
    void connect() {
        this.kafka.proxy().pass();
    }

    private void start(String target, String... settings) {
        List<String> all = new ArrayList<>(List.of("--spring.kafka.bootstrap-servers=" + this.kafka.bootstrapServers(),
                "--delayqueue.forward.orders.to=" + target, "--delayqueue.forward.orders.timeout=" + this.timeout,
                "--spring.kafka.producer.properties.max.block.ms=" + this.maxBlockMillis));
        all.addAll(List.of(settings));
        start(Depot.class, all.toArray(String[]::new));
    }

    private List<ConsumerRecord<String, String>> awaitRecords(String topic, int records) {
        await().atMost(LIMIT).until(() -> this.kafka.records(topic).size() >= records);
        return this.kafka.records(topic);
    }

    private List<String> ids(String topic) {
        return this.kafka.records(topic).stream().map((record) -> header(record, "delayqueue-id")).toList();
    }

    /** The record has the payload as it was stored, the key, and all headers. */
    @Test
    void aDueMessageBecomesARecordWithItsKeyAndHeaders() {
        String topic = this.kafka.newTopic(1, Map.of());
        start("kafka:" + topic);
        Instant before = Instant.now();

        queue().send(DelayedMessage.builder(QUEUE, Map.of("total", 12.50))
            .id("order-1")
            .group("customer-7")
            .header("tag", "gold")
            .delay(Duration.ofMillis(300))
            .build());

        ConsumerRecord<String, String> record = awaitRecords(topic, 1).get(0);
        assertThat(record.value()).isEqualTo("{\"total\":12.5}");
        assertThat(record.key()).isEqualTo("customer-7");
        assertThat(header(record, "delayqueue-id")).isEqualTo("order-1");
        assertThat(header(record, "delayqueue-queue")).isEqualTo(QUEUE);
        assertThat(header(record, "delayqueue-group")).isEqualTo("customer-7");
        assertThat(header(record, "delayqueue-attempt")).isEqualTo("1");
        assertThat(Instant.parse(header(record, "delayqueue-due"))).isAfterOrEqualTo(before.plusMillis(250));
        assertThat(header(record, "tag")).isEqualTo("gold");
        assertThat(header(record, "contentType")).isEqualTo("application/json");
        assertAllForwarded();
    }

    /**
     * Redis keeps the messages while the broker is away. None is lost, skipped or
     * dead-lettered, no attempt counts, and the order of each group stays.
     */
    @Test
    void aBrokerThatIsAwayCostsNoAttemptAndNoOrder(CapturedOutput output) {
        costsNothing(TcpProxy::refuse, output);
    }

    @Test
    @Tag("matrix")
    void aBrokerThatHangsCostsNoAttemptAndNoOrder(CapturedOutput output) {
        costsNothing(TcpProxy::blackhole, output);
    }

    private void costsNothing(Consumer<TcpProxy> outage, CapturedOutput output) {
        String topic = this.kafka.newTopic(3, Map.of());
        this.timeout = "5s"; // a slow broker is not away
        this.maxBlockMillis = 5000;
        start("kafka:" + topic, "--delayqueue.listener.max-attempts=1", LOG_PROBES);
        queue().send(QUEUE, "before");
        assertAllForwarded();

        outage.accept(this.kafka.proxy());
        sendGroups(5, 20);
        await().atMost(LIMIT).until(() -> count(output, AWAY) == 1);
        await().atMost(LIMIT).until(() -> count(output, STILL_AWAY) > 0);
        assertThat(queue().statistics(QUEUE).dead()).isZero();
        this.kafka.proxy().pass();

        assertAllForwarded();
        assertGroups(ids(topic), 5, 20);
        assertThat(this.kafka.records(topic)).allMatch((record) -> header(record, "delayqueue-attempt").equals("1"));
        assertThat(count(output, AWAY)).isOne();
        assertThat(count(output, BACK)).isOne();
    }

    /** Without metadata each send would block a thread; only one message is tried. */
    @Test
    void aBrokerThatIsAwayAtTheStartBlocksOneHandlerOnly() {
        String topic = this.kafka.newTopic(1, Map.of());
        this.kafka.proxy().refuse();
        start("kafka:" + topic);
        sendGroups(20, 1);

        AtomicLong most = new AtomicLong();
        await().during(Duration.ofSeconds(1))
            .atMost(LIMIT)
            .until(() -> most.accumulateAndGet(sendingThreads(), Math::max) == 1);
        this.kafka.proxy().pass();

        awaitRecords(topic, 20);
        assertAllForwarded();
    }

    @Test
    @Tag("matrix")
    void forwardingContinuesWithTheFirstProbeAfterTheReturnOfTheBroker(CapturedOutput output) {
        this.timeout = "15s"; // the default
        this.maxBlockMillis = 5000; // the default
        start("kafka:" + this.kafka.newTopic(3, Map.of()), LOG_PROBES);

        assertBackWithTheNextProbe(this.kafka.proxy(), output);
    }

    @Test
    @Tag("matrix")
    void aSlowBrokerDelaysMessagesAndRepeatsNone() {
        this.timeout = "1m";
        String topic = this.kafka.newTopic(1, Map.of());
        start("kafka:" + topic);
        this.kafka.proxy().delay(Duration.ofMillis(200));

        sendGroups(10, 3);

        assertAllForwarded();
        this.kafka.proxy().pass();
        assertThat(ids(topic)).hasSize(30).doesNotHaveDuplicates();
    }

    /** The producer is idempotent, so the broker drops the record that is sent again. */
    @Test
    void aLostConfirmationRepeatsNoRecordWhileTheProducerLives() {
        String topic = this.kafka.newTopic(1, Map.of());
        start("kafka:" + topic);
        sendGroups(1, 1);
        awaitRecords(topic, 1);
        this.kafka.proxy().loseReplyTo("lost-1");

        queue().send(QUEUE, "lost-1", "content", Duration.ZERO);

        await().atMost(LIMIT).until(() -> !this.kafka.proxy().isLossPending());
        assertAllForwarded();
        assertThat(ids(topic)).containsExactly("g0-000", "lost-1");
    }

    /** A topic that does not exist yet is no fault of the message. */
    @Test
    void messagesForAMissingTopicWaitUntilItExists(CapturedOutput output) {
        String topic = "missing-" + UUID.randomUUID();
        start("kafka:" + topic);
        sendGroups(2, 2);
        await().atMost(LIMIT).until(() -> count(output, AWAY) == 1);
        assertThat(queue().statistics(QUEUE).dead()).isZero();

        this.kafka.createTopic(topic, 1, Map.of());

        awaitRecords(topic, 4);
        assertAllForwarded();
        assertGroups(ids(topic), 2, 2);
    }

    /** The broker answers, and will always refuse this message, but not the others. */
    @Test
    void aRecordThatTheBrokerRefusesIsDeadLetteredAtOnceWithTheCause() {
        String topic = this.kafka.newTopic(1, Map.of("max.message.bytes", "1000"));
        start("kafka:" + topic);

        queue().send(QUEUE, "large", "x".repeat(5000), Duration.ZERO);
        queue().send(QUEUE, "small", "x", Duration.ofMillis(100));

        awaitRecords(topic, 1);
        await().atMost(LIMIT).until(() -> queue().statistics(QUEUE).dead() == 1);
        assertThat(queue().deadLetters(QUEUE).list(null, 10).deadLetters().get(0)).satisfies((letter) -> {
            assertThat(letter.messageId()).isEqualTo("large");
            assertThat(letter.cause()).contains("does not accept the record").contains("RecordTooLargeException");
        });
        assertThat(ids(topic)).containsExactly("small");
    }

    /** Settings of the application's producer that exclude idempotence are not those. */
    @Test
    void settingsThatExcludeIdempotenceAreReplaced() {
        String topic = this.kafka.newTopic(1, Map.of());
        start("kafka:" + topic, "--spring.kafka.producer.retries=0",
                "--spring.kafka.producer.properties.max.in.flight.requests.per.connection=10",
                "--spring.kafka.producer.acks=1");

        sendGroups(1, 1);

        awaitRecords(topic, 1);
    }

    /**
     * A right that is missing for one topic concerns neither producers nor other topics.
     */
    @Test
    @Tag("matrix")
    void aTopicWithoutPermissionWaitsAndLeavesOtherForwardsAlone(CapturedOutput output) {
        String topic = this.kafka.newTopic(1, Map.of());
        String denied = this.kafka.newTopic(1, Map.of());
        this.kafka.deny(AclOperation.WRITE, denied);
        start("kafka:" + denied, "--delayqueue.forward.invoices.to=kafka:" + topic,
                "--delayqueue.forward.invoices.timeout=1s");
        sendGroups(1, 2);
        queue().send("invoices", "first");
        await().atMost(LIMIT).until(() -> count(output, AWAY) == 1);
        awaitRecords(topic, 1);
        Set<Thread> producers = producerThreads();

        // Real time: several probes are rejected.
        await().pollDelay(Duration.ofSeconds(8)).until(() -> true);
        queue().send("invoices", "second");
        awaitRecords(topic, 2);

        assertThat(producerThreads()).isEqualTo(producers);
        assertThat(count(output, "cannot be forwarded to")).isOne();
        this.kafka.allow(denied);
        awaitRecords(denied, 2);
        assertAllForwarded();
        assertGroups(ids(denied), 1, 2);
    }

    /** Returns how many threads wait in the client, which has no metadata. */
    private static long sendingThreads() {
        return Thread.getAllStackTraces()
            .values()
            .stream()
            .filter((stack) -> Arrays.stream(stack).anyMatch(KafkaForwardTests::isSend))
            .count();
    }

    private static boolean isSend(StackTraceElement call) {
        return call.getClassName().equals(KafkaProducer.class.getName()) && call.getMethodName().equals("send");
    }

    private static Set<Thread> producerThreads() {
        return Thread.getAllStackTraces()
            .keySet()
            .stream()
            .filter((thread) -> thread.getName().startsWith("kafka-producer-network-thread"))
            .collect(Collectors.toSet());
    }

}
