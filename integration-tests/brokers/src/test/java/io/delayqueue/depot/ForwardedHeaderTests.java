package io.delayqueue.depot;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.StreamSupport;

import io.delayqueue.DelayedMessage;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler.FirstMatchingCompositeObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.handler.PropagatingSenderTracingObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelPropagator;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests that a message of a ledger, sent in a transaction and in a trace, has all its
 * headers at a broker.
 */
@Tag("server")
class ForwardedHeaderTests extends DepotTestBase {

    private static final Duration DELAY = Duration.ofMillis(300);

    private ConfigurableApplicationContext context;

    @Test
    void aRecordOfKafkaHasTheHeadersOfItsMessage() {
        KafkaBroker kafka = KafkaBroker.SHARED;
        String topic = kafka.newTopic(1, Map.of());
        startLedger(List.of("--spring.kafka.bootstrap-servers=" + kafka.bootstrapServers(),
                "--delayqueue.forward.orders.to=kafka:" + topic));

        assertHeaders((count) -> {
            await().atMost(LIMIT).until(() -> kafka.records(topic).size() == count);
            Map<String, String> headers = new HashMap<>();
            StreamSupport.stream(kafka.records(topic).get(count - 1).headers().spliterator(), false)
                .forEach((header) -> headers.put(header.key(), new String(header.value(), StandardCharsets.UTF_8)));
            return headers;
        });
    }

    @ParameterizedTest
    @EnumSource
    void aMessageOfAmqpHasTheHeadersOfItsMessage(AmqpBroker.Product product) {
        AmqpBroker broker = product.shared();
        String target = "queue-" + UUID.randomUUID();
        broker.declareQueue(target, "headers", target);
        List<String> settings = new ArrayList<>(broker.settings());
        settings.add("--delayqueue.forward.orders.to=rabbit:headers/" + target);
        startLedger(settings);

        assertHeaders((count) -> {
            assertAllForwarded();
            Map<String, String> headers = new HashMap<>();
            assertThat(broker.take(target)).singleElement().satisfies((message) -> {
                message.getMessageProperties()
                    .getHeaders()
                    .forEach((name, value) -> headers.put(name, value.toString()));
                headers.put("contentType", message.getMessageProperties().getContentType());
            });
            return headers;
        });
    }

    private void startLedger(List<String> settings) {
        List<String> all = new ArrayList<>(settings);
        all.add("--spring.datasource.url=jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1".formatted(UUID.randomUUID()));
        all.add("--delayqueue.journal.mode=ledger");
        all.add("--delayqueue.journal.jdbc.initialize-schema=always");
        all.add("--delayqueue.observation.enabled=true");
        this.context = start(Traced.class, all.toArray(String[]::new));
    }

    private void assertHeaders(Broker broker) {
        Instant before = Instant.now();
        String trace = sendInATrace();
        Map<String, String> first = broker.awaitHeaders(1);

        assertThat(first).containsEntry("delayqueue-id", "order-1")
            .containsEntry("delayqueue-queue", QUEUE)
            .containsEntry("delayqueue-group", "customer-7")
            .containsEntry("delayqueue-attempt", "1")
            .containsEntry("tag", "gold")
            .containsEntry("contentType", "application/json");
        assertThat(Instant.parse(first.get("delayqueue-due")))
            .isAfterOrEqualTo(before.plus(DELAY).minus(Duration.ofMillis(50)));
        assertThat(first.get("traceparent")).matches("00-" + trace + "-[0-9a-f]{16}-[0-9a-f]{2}");
        assertAllForwarded();

        String next = sendInATrace();
        Map<String, String> second = broker.awaitHeaders(2);
        assertThat(second.get("traceparent")).startsWith("00-" + next + "-");
        assertThat(Long.parseLong(second.get("delayqueue-revision")))
            .isGreaterThan(Long.parseLong(first.get("delayqueue-revision")));
    }

    /** Sends a message in a transaction, and returns the id of its trace. */
    private String sendInATrace() {
        Tracer tracer = this.context.getBean(Tracer.class);
        ObservationRegistry registry = this.context.getBean(ObservationRegistry.class);
        return Observation.createNotStarted("request", registry).observe(() -> {
            new TransactionTemplate(this.context.getBean(PlatformTransactionManager.class))
                .executeWithoutResult((status) -> queue().send(DelayedMessage.builder(QUEUE, "content")
                    .id("order-1")
                    .group("customer-7")
                    .header("tag", "gold")
                    .delay(DELAY)
                    .build()));
            return tracer.currentSpan().context().traceId();
        });
    }

    /** Reads the headers of a message of a broker. */
    @FunctionalInterface
    private interface Broker {

        /**
         * Waits for a message, and returns its headers.
         * @param number that of the message, from 1
         */
        Map<String, String> awaitHeaders(int number);

    }

    /**
     * An application whose sends are traced. Not annotated as a configuration, so that
     * other applications of this package do not find it.
     */
    @Import(Depot.class)
    static class Traced {

        private final OpenTelemetrySdk openTelemetry = OpenTelemetrySdk.builder()
            .setTracerProvider(SdkTracerProvider.builder().build())
            .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
            .build();

        @Bean
        Tracer tracer() {
            return new OtelTracer(this.openTelemetry.getTracer("test"), new OtelCurrentTraceContext(), (event) -> {
            });
        }

        @Bean
        ObservationRegistry observationRegistry(Tracer tracer) {
            ObservationRegistry registry = ObservationRegistry.create();
            registry.observationConfig()
                .observationHandler(new FirstMatchingCompositeObservationHandler(
                        new PropagatingSenderTracingObservationHandler<>(tracer,
                                new OtelPropagator(this.openTelemetry.getPropagators(),
                                        this.openTelemetry.getTracer("test"))),
                        new DefaultTracingObservationHandler(tracer)));
            return registry;
        }

    }

}
