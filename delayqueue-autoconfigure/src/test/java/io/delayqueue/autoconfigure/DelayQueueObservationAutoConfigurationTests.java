package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;
import io.delayqueue.observation.DefaultHandleObservationConvention;
import io.delayqueue.observation.HandleObservationContext;
import io.delayqueue.observation.HandleObservationConvention;
import io.delayqueue.observation.MessageObservations;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.handler.PropagatingSenderTracingObservationHandler;
import io.micrometer.tracing.handler.TracingObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelPropagator;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.micrometer.tracing.propagation.Propagator;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationHandlerGroup;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.messaging.handler.annotation.Headers;

import static io.micrometer.observation.tck.TestObservationRegistryAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests which observations exist, and how a trace is passed from a send to its handler.
 */
class DelayQueueObservationAutoConfigurationTests {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final ApplicationContextRunner quiet = new ApplicationContextRunner()
        .withConfiguration(
                AutoConfigurations.of(DelayQueueAutoConfiguration.class, DelayQueueListenerAutoConfiguration.class,
                        DelayQueueObservationAutoConfiguration.class, ObservationAutoConfiguration.class))
        .withBean(Handler.class)
        .withPropertyValues("delayqueue.store=memory");

    private final ApplicationContextRunner observed = this.quiet
        .withPropertyValues("delayqueue.observation.enabled=true");

    private final ApplicationContextRunner traced = this.observed.withUserConfiguration(Tracing.class);

    @Test
    void observesNothingByDefault() {
        this.quiet.withUserConfiguration(Tracing.class).run((context) -> {
            context.getBean(DelayQueueOperations.class).send("orders", "a", Duration.ZERO);

            assertThat(context.getBean(Handler.class).next()).isEmpty();
            assertThat(context).doesNotHaveBean(MessageObservations.class);
            assertThat(context.getBean(InMemorySpanExporter.class).getFinishedSpanItems()).isEmpty();
        });
    }

    @Test
    void tagsHaveFewValues() {
        TestObservationRegistry registry = TestObservationRegistry.create();
        this.observed.withBean(ObservationRegistry.class, () -> registry).run((context) -> {
            context.getBean(DelayQueueOperations.class).send(DelayedMessage.builder("orders", "a").id("one").build());
            assertThat(context.getBean(Handler.class).next()).as("headers without a tracer").isEmpty();

            assertThat(registry).hasObservationWithNameEqualTo("delayqueue.send")
                .that()
                .hasBeenStopped()
                .hasLowCardinalityKeyValue("messaging.system", "delayqueue")
                .hasLowCardinalityKeyValue("messaging.operation", "publish")
                .hasLowCardinalityKeyValue("messaging.destination.name", "orders")
                .hasLowCardinalityKeyValue("outcome", "scheduled")
                .doesNotHaveLowCardinalityKeyValueWithKey("messaging.message.id")
                .hasHighCardinalityKeyValue("messaging.message.id", "one");
            await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(registry).hasObservationWithNameEqualTo("delayqueue.handle")
                    .that()
                    .hasBeenStopped()
                    .hasLowCardinalityKeyValue("messaging.operation", "process")
                    .hasLowCardinalityKeyValue("messaging.destination.name", "orders")
                    .hasLowCardinalityKeyValue("delayqueue.listener.id", "all")
                    .hasLowCardinalityKeyValue("outcome", "success")
                    .doesNotHaveLowCardinalityKeyValueWithKey("messaging.message.id")
                    .hasHighCardinalityKeyValue("messaging.message.id", "one")
                    .hasHighCardinalityKeyValue("delayqueue.attempt", "1"));
        });
    }

    /** Senders may invent names; a tag must not have unlimited values. */
    @Test
    void queuesBeyondTheLimitHaveNoMeterOfSends() {
        this.observed
            .withConfiguration(
                    AutoConfigurations.of(MetricsAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class,
                            CompositeMeterRegistryAutoConfiguration.class, DelayQueueMetricsAutoConfiguration.class))
            .withPropertyValues("delayqueue.metrics.enabled=false", "delayqueue.metrics.max-queues=2")
            .run((context) -> {
                for (String name : List.of("one", "two", "three")) {
                    context.getBean(DelayQueueOperations.class).send(name, "a", Duration.ofHours(1));
                }

                assertThat(context.getBean(MeterRegistry.class).find("delayqueue.send").timers())
                    .extracting((timer) -> timer.getId().getTag("messaging.destination.name"))
                    .containsExactlyInAnyOrder("one", "two");
            });
    }

    @Test
    void usesTheConventionOfTheApplication() {
        TestObservationRegistry registry = TestObservationRegistry.create();
        this.observed.withBean(ObservationRegistry.class, () -> registry)
            .withBean(HandleObservationConvention.class, MyConvention::new)
            .run((context) -> {
                context.getBean(DelayQueueOperations.class).send("orders", "a", Duration.ZERO);

                context.getBean(Handler.class).next();
                await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(registry).hasObservationWithNameEqualTo("my.handler")
                        .that()
                        .hasLowCardinalityKeyValue("shop", "north"));
            });
    }

    @Test
    void aHandlerSoonAfterTheSendIsItsChild() {
        this.traced.run((context) -> {
            Tracer tracer = context.getBean(Tracer.class);
            Span request = tracer.nextSpan().name("request").start();
            try (Tracer.SpanInScope scope = tracer.withSpan(request)) {
                context.getBean(DelayQueueOperations.class).send("orders", "a", Duration.ofMillis(20));
            }
            finally {
                request.end();
            }

            assertThat(context.getBean(Handler.class).next()).containsKeys("traceparent", "sent-at");
            SpanData send = span(context.getBean(InMemorySpanExporter.class), "orders publish");
            SpanData handle = span(context.getBean(InMemorySpanExporter.class), "orders process");
            assertThat(send.getKind()).isEqualTo(SpanKind.PRODUCER);
            assertThat(send.getTraceId()).isEqualTo(request.context().traceId());
            assertThat(send.getParentSpanId()).isEqualTo(request.context().spanId());
            assertThat(handle.getKind()).isEqualTo(SpanKind.CONSUMER);
            assertThat(handle.getTraceId()).isEqualTo(send.getTraceId());
            assertThat(handle.getParentSpanId()).isEqualTo(send.getSpanId());
            assertThat(handle.getLinks()).isEmpty();
        });
    }

    @Test
    void aHandlerLongAfterTheSendIsLinkedToIt() {
        this.traced.withPropertyValues("delayqueue.observation.link-after=10ms").run((context) -> {
            context.getBean(DelayQueueOperations.class).send("orders", "a", Duration.ofMillis(50));

            context.getBean(Handler.class).next();
            SpanData send = span(context.getBean(InMemorySpanExporter.class), "orders publish");
            SpanData handle = span(context.getBean(InMemorySpanExporter.class), "orders process");
            assertThat(handle.getKind()).isEqualTo(SpanKind.CONSUMER);
            assertThat(handle.getTraceId()).isNotEqualTo(send.getTraceId());
            assertThat(handle.getParentSpanContext().isValid()).isFalse();
            assertThat(handle.getLinks()).extracting(LinkData::getSpanContext).satisfiesExactly((linked) -> {
                assertThat(linked.getTraceId()).isEqualTo(send.getTraceId());
                assertThat(linked.getSpanId()).isEqualTo(send.getSpanId());
                assertThat(linked.isSampled()).isTrue();
            });
        });
    }

    @Test
    void aBatchIsOneSendForEachQueue() {
        this.traced.run((context) -> {
            context.getBean(DelayQueueOperations.class)
                .sendAll(List.of(message("orders"), message("orders"), message("bills")));

            InMemorySpanExporter spans = context.getBean(InMemorySpanExporter.class);
            SpanData send = span(spans, "orders publish");
            assertThat(span(spans, "bills publish").getTraceId()).isNotEqualTo(send.getTraceId());
            await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(spans.getFinishedSpanItems())
                    .filteredOn((span) -> span.getName().equals("orders process"))
                    .hasSize(2)
                    .allMatch((span) -> span.getParentSpanId().equals(send.getSpanId())));
        });
    }

    @Test
    void aHandlerOfABatchIsLinkedToAllSends() {
        this.traced.withBean(BatchHandler.class).run((context) -> {
            DelayQueueOperations queue = context.getBean(DelayQueueOperations.class);
            queue.send("batches", "a");
            queue.send("batches", "b");
            // A claim within the millisecond of the second send would return one message.
            await().atMost(LIMIT).until(() -> queue.statistics("batches").due() == 2);
            context.getBean(DelayedListenerRegistry.class).require("batches").start();

            InMemorySpanExporter spans = context.getBean(InMemorySpanExporter.class);
            SpanData handle = span(spans, "batches process");
            assertThat(handle.getKind()).isEqualTo(SpanKind.CONSUMER);
            assertThat(handle.getParentSpanContext().isValid()).isFalse();
            assertThat(handle.getLinks()).extracting((link) -> link.getSpanContext().getSpanId())
                .containsExactlyInAnyOrderElementsOf(spans.getFinishedSpanItems()
                    .stream()
                    .filter((span) -> span.getName().equals("batches publish"))
                    .map(SpanData::getSpanId)
                    .toList());
            assertThat(handle.getAttributes().asMap())
                .containsEntry(AttributeKey.stringKey("messaging.batch.message_count"), "2");
            assertThat(handle.getAttributes().get(AttributeKey.stringKey("messaging.message.id"))).isNull();
        });
    }

    @Test
    void aFutureIsObservedToItsEnd() {
        this.traced.run((context) -> {
            context.getBean(DelayQueueOperations.class)
                .sendAsync(DelayedMessage.builder("futures", "a").build())
                .get(LIMIT.toSeconds(), TimeUnit.SECONDS);

            Handler handler = context.getBean(Handler.class);
            handler.next();
            InMemorySpanExporter spans = context.getBean(InMemorySpanExporter.class);
            assertThat(span(spans, "futures publish").getStatus().getStatusCode()).isNotEqualTo(StatusCode.ERROR);
            assertThat(spans.getFinishedSpanItems()).noneMatch((span) -> span.getName().equals("futures process"));
            handler.future.completeExceptionally(new IllegalStateException("no"));
            assertThat(span(spans, "futures process").getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        });
    }

    /**
     * Checks that a failure of an observation handler fails neither a handler nor a send.
     */
    @Test
    void anObservationThatFailsChangesNothing() {
        this.observed.withBean(BrokenObservationHandler.class).run((context) -> {
            context.getBean(DelayQueueOperations.class).send("orders", "a", Duration.ZERO);

            Handler handler = context.getBean(Handler.class);
            handler.next();
            ListenerContainer listener = context.getBean(DelayedListenerRegistry.class).require("all");
            await().atMost(LIMIT).until(() -> listener.statistics().handled() == 1);
            assertThat(listener.statistics().failed()).isZero();
        });
    }

    @Test
    void sendsAMessageWithoutATraceThatWouldExceedTheSizeLimit() {
        this.traced.run((context) -> {
            DelayedMessage.Builder message = DelayedMessage.builder("orders", "a");
            for (int i = 0; i < 63; i++) {
                message.header("h" + i, "v");
            }
            context.getBean(DelayQueueOperations.class).send(message.build());

            assertThat(context.getBean(Handler.class).next()).hasSize(63).doesNotContainKey("traceparent");
        });
    }

    @Test
    void startsWithoutTracing() {
        this.observed.withClassLoader(new FilteredClassLoader("io.micrometer.tracing")).run((context) -> {
            assertThat(context).hasNotFailed().hasSingleBean(MessageObservations.class);
            context.getBean(DelayQueueOperations.class).send("orders", "a", Duration.ZERO);
            assertThat(context.getBean(Handler.class).next()).isEmpty();
        });
    }

    private static DelayedMessage message(String queue) {
        return DelayedMessage.builder(queue, "a").build();
    }

    private static SpanData span(InMemorySpanExporter exporter, String name) {
        return await().atMost(LIMIT)
            .until(() -> exporter.getFinishedSpanItems()
                .stream()
                .filter((span) -> span.getName().equals(name))
                .toList(), (spans) -> !spans.isEmpty())
            .get(0);
    }

    static class Handler {

        private final BlockingQueue<Map<String, Object>> handled = new LinkedBlockingQueue<>();

        private final CompletableFuture<Void> future = new CompletableFuture<>();

        @DelayedListener(id = "all", queues = { "orders", "bills" })
        void handle(String payload, @Headers Map<String, Object> headers) {
            note(headers);
        }

        @DelayedListener("futures")
        CompletableFuture<Void> handleLater(String payload, @Headers Map<String, Object> headers) {
            note(headers);
            return this.future;
        }

        private void note(Map<String, Object> headers) {
            Map<String, Object> sent = new HashMap<>(headers);
            sent.keySet().removeIf((name) -> name.startsWith("delayqueue_"));
            this.handled.add(sent);
        }

        /** The headers that the next message was sent with. */
        Map<String, Object> next() throws InterruptedException {
            Map<String, Object> next = this.handled.poll(LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(next).isNotNull();
            return next;
        }

    }

    static class BatchHandler {

        @DelayedListener(id = "batches", queues = "batches", batch = true, autoStartup = "false")
        void handle(List<String> payloads) {
        }

    }

    static class BrokenObservationHandler implements ObservationHandler<Observation.Context> {

        @Override
        public void onStart(Observation.Context context) {
            throw new IllegalStateException("broken");
        }

        @Override
        public void onStop(Observation.Context context) {
            throw new IllegalStateException("broken");
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }

    }

    static class MyConvention implements HandleObservationConvention {

        private final HandleObservationConvention defaults = new DefaultHandleObservationConvention();

        @Override
        public String getName() {
            return "my.handler";
        }

        @Override
        public KeyValues getLowCardinalityKeyValues(HandleObservationContext context) {
            return this.defaults.getLowCardinalityKeyValues(context).and("shop", "north");
        }

    }

    /** Creates the beans that Boot defines if OpenTelemetry is present. */
    @Configuration(proxyBeanMethods = false)
    static class Tracing {

        @Bean
        InMemorySpanExporter exporter() {
            return InMemorySpanExporter.create();
        }

        @Bean
        OpenTelemetrySdk openTelemetry(InMemorySpanExporter exporter) {
            return OpenTelemetrySdk.builder()
                .setTracerProvider(
                        SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(exporter)).build())
                .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
                .build();
        }

        @Bean
        Tracer tracer(OpenTelemetrySdk openTelemetry) {
            return new OtelTracer(openTelemetry.getTracer("test"), new OtelCurrentTraceContext(), (event) -> {
            });
        }

        @Bean
        Propagator propagator(OpenTelemetrySdk openTelemetry) {
            return new OtelPropagator(openTelemetry.getPropagators(), openTelemetry.getTracer("test"));
        }

        @Bean
        ObservationHandlerGroup tracingGroup() {
            return ObservationHandlerGroup.of(TracingObservationHandler.class);
        }

        @Bean
        @Order(1000)
        PropagatingReceiverTracingObservationHandler<?> receiver(Tracer tracer, Propagator propagator) {
            return new PropagatingReceiverTracingObservationHandler<>(tracer, propagator);
        }

        @Bean
        @Order(2000)
        PropagatingSenderTracingObservationHandler<?> sender(Tracer tracer, Propagator propagator) {
            return new PropagatingSenderTracingObservationHandler<>(tracer, propagator);
        }

        @Bean
        @Order(3000)
        DefaultTracingObservationHandler others(Tracer tracer) {
            return new DefaultTracingObservationHandler(tracer);
        }

    }

}
