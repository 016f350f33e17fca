package io.delayqueue.web.api;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import io.delayqueue.BatchSendException;
import io.delayqueue.DeadLetterFilter;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.QueueName;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.admin.AuditedOperationEvent.Outcome;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.consume.ConsumeSettings;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.RemoteConsumerQueues;
import io.delayqueue.store.SecretStore;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.routing.StoreComponents;
import io.delayqueue.web.consume.AsyncEventPublisher;
import io.delayqueue.web.consume.HttpConsumerCodecs;
import io.delayqueue.web.consume.HttpConsumerServices;
import io.delayqueue.web.consume.LeaseToken;
import io.delayqueue.web.consume.LeaseTokenService;
import io.delayqueue.web.consume.ClaimLimits;
import io.delayqueue.web.consume.TokenForger;
import io.delayqueue.web.http.RouteTable;
import io.delayqueue.web.http.ApiSettings;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.AuditedOperation;
import io.delayqueue.web.http.LoopbackAccessControl;
import io.delayqueue.web.http.ProblemException;
import io.delayqueue.web.http.RequestDispatcher;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;
import org.mockito.stubbing.Answer;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.util.ServletRequestPathUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.BDDMockito.given;

/** Checks that each change is published, even if its outcome is unknown. */
class AuditPublisherTests {

    private static final AuditedOperation CHANGE = new AuditedOperation("ann", "cancel", new QueueName("orders"), "o1");

    private static final LeaseTokenService TOKENS = new LeaseTokenService(SecretStore.inMemory(), "audit");

    private static final Throwable AWAY = new StoreUnavailableException("away", Effect.UNKNOWN, null);

    private final List<AuditedOperationEvent> events = new CopyOnWriteArrayList<>();

    private final AuditPublisher audit = new AuditPublisher(this.events::add);

    static Stream<Arguments> failures() {
        SendResult stored = new SendResult("orders", "o1", Instant.EPOCH, SendOutcome.SCHEDULED);
        DelayedMessage message = DelayedMessage.builder("orders", "x").build();
        return Stream.of(arguments(AWAY, -1, Outcome.UNKNOWN), //
                arguments(new StoreUnavailableException("away", Effect.NONE, null), 0, Outcome.FAILED),
                arguments(new StoreRefusedException("full", null), 0, Outcome.FAILED),
                arguments(new NotReplicatedException("stored", null), 1, Outcome.DONE),
                arguments(new BatchSendException(List.of(stored), List.of(message), List.of(), AWAY), 1,
                        Outcome.FAILED),
                arguments(new BatchSendException(List.of(stored), List.of(), List.of(message), AWAY), -1,
                        Outcome.UNKNOWN),
                arguments(new IllegalStateException("a defect"), -1, Outcome.UNKNOWN),
                arguments(new IllegalArgumentException("a defect"), -1, Outcome.UNKNOWN),
                arguments(new PayloadConversionException("a stored message is broken", null), 0, Outcome.FAILED));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void publishesFailedChanges(RuntimeException failure, long count, Outcome outcome) {
        AuditedOperationEvent expected = new AuditedOperationEvent("ann", "cancel", "orders", "o1", count, outcome);

        assertThatThrownBy(() -> this.audit.of(CHANGE, () -> {
            throw failure;
        }, (answer) -> 1)).isSameAs(failure);
        assertThatThrownBy(
                this.audit.of(CHANGE, CompletableFuture.failedFuture(new CompletionException(failure)), (a) -> 1)::join)
            .hasRootCauseMessage(failure instanceof BatchSendException ? AWAY.getMessage() : failure.getMessage());

        assertThat(this.events).containsExactly(expected, expected);
    }

    @Test
    void publishesNoInvalidRequests() {
        assertThatThrownBy(() -> this.audit.of(CHANGE, () -> {
            throw ProblemException.invalid("no id");
        }, (answer) -> 1)).isInstanceOf(ProblemException.class);

        assertThat(this.events).isEmpty();
    }

    /** Covers each route that changes anything, with each kind of failure. */
    @ParameterizedTest
    @ValueSource(strings = { "DELETE messages/by-id?id=1", "DELETE messages/by-id/history?id=1",
            "PATCH messages/by-id?id=1 {\"delayMillis\": 0}", "POST messages/cancel {\"ids\": [\"1\", \"2\"]}",
            "POST messages/reschedule {\"ids\": [\"1\"], \"delayMillis\": 0}", "POST messages {\"payload\": 1}",
            "PUT messages/by-id?id=1 {\"payload\": 1}", "POST messages/batch {\"messages\": [{\"payload\": 1}]}",
            "PUT pause {}", "DELETE pause", "DELETE ", "POST dead-letters/by-id/redrive?deadLetterId=1~1",
            "DELETE dead-letters/by-id?deadLetterId=1~1",
            "POST dead-letters/redrive {\"filter\": {}, \"cursor\": \"1:c\"}",
            "POST dead-letters/purge {\"filter\": {}, \"cursor\": \"1:c\"}", "POST claims {}",
            "POST leases/acknowledge {\"id\": \"1\", \"token\": \"TOKEN\"}",
            "POST leases/acknowledge/batch {\"leases\": [{\"id\": \"1\", \"token\": \"TOKEN\"}]}",
            "POST leases/extend {\"id\": \"1\", \"token\": \"TOKEN\"}",
            "POST leases/release {\"id\": \"1\", \"token\": \"TOKEN\"}",
            "POST leases/retry {\"id\": \"1\", \"token\": \"TOKEN\", \"failure\": \"f\"}",
            "POST leases/dead-letter {\"id\": \"1\", \"token\": \"TOKEN\", \"reason\": \"f\"}" })
    void publishesFailuresOfEachRoute(String call) {
        if (Stream.of("retry", "release", "dead-letter").anyMatch((end) -> call.startsWith("POST leases/" + end))) {
            // These check the lease before they settle it, which is what fails here.
            assertPublishes(call, AWAY, 0, Outcome.FAILED);
        }
        else {
            assertPublishes(call, AWAY, AuditedOperationEvent.UNKNOWN, Outcome.UNKNOWN);
        }
        assertPublishes(call, new StoreUnavailableException("away", Effect.NONE, null), 0, Outcome.FAILED);
    }

    /** Each settlement verifies its token first. */
    @ParameterizedTest
    @ValueSource(
            strings = { "acknowledge {LEASE}", "acknowledge/batch {\"leases\": [{LEASE}, {LEASE}]}", "extend {LEASE}",
                    "release {LEASE}", "retry {LEASE, \"failure\": \"f\"}", "dead-letter {LEASE, \"reason\": \"f\"}" })
    void publishesOneFailureIfTheSecretOfTokensCannotBeRead(String settlement) {
        LeaseTokenService unreadable = new LeaseTokenService((candidate) -> CompletableFuture.failedFuture(AWAY),
                "audit");
        String call = "POST leases/" + settlement.replace("LEASE", "\"id\": \"1\", \"token\": \"TOKEN\"");

        assertPublishes(call, AWAY, 0, Outcome.FAILED, unreadable);
    }

    /** A request that a journal has recorded will be applied. */
    @ParameterizedTest
    @EnumSource
    void aRescheduleThatIsRecordedIsAChange(RescheduleResult result) {
        DelayQueueOperations operations = Mockito.mock();
        given(operations.reschedule(anyString(), anyString(), any(Duration.class))).willReturn(result);
        RouteTable routes = new RouteTable("");
        new MessageRoutes(operations, this.audit).addTo(routes);
        RequestDispatcher dispatch = new RequestDispatcher(
                new ApiSettings("", 10_000, 10, 10, Duration.ofDays(1), Duration.ZERO, Duration.ofDays(1)),
                new LoopbackAccessControl(), routes);

        dispatch.handle(request("PATCH", "/queues/orders/messages/by-id?id=1", "{\"delayMillis\": 0}"));

        boolean changed = result != RescheduleResult.NOT_FOUND && result != RescheduleResult.LEASED;
        assertThat(this.events).singleElement().extracting(AuditedOperationEvent::count).isEqualTo(changed ? 1L : 0L);
    }

    private void assertPublishes(String call, Throwable failure, long count, Outcome outcome) {
        assertPublishes(call, failure, count, outcome, TOKENS);
    }

    private void assertPublishes(String call, Throwable failure, long count, Outcome outcome,
            LeaseTokenService tokens) {
        this.events.clear();
        Answer<Object> away = (invocation) -> {
            if (invocation.getMethod().getName().equals("deadLetters")) {
                return Mockito.mock(invocation.getMethod().getReturnType(), (deadLetters) -> {
                    throw failure;
                });
            }
            throw failure;
        };
        DelayQueueOperations operations = Mockito.mock(DelayQueueOperations.class, away);
        DelayQueueInspector inspector = Mockito.mock(DelayQueueInspector.class, away);
        RouteTable routes = new RouteTable("");
        new QueueRoutes(operations, inspector, this.audit).addTo(routes);
        new SendRoutes(operations, this.audit).addTo(routes);
        new MessageRoutes(operations, this.audit).addTo(routes);
        new HistoryRoutes(Mockito.mock(MessageHistory.class, away), this.audit).addTo(routes);
        new DeadLetterRoutes(operations, inspector, this.audit).addTo(routes);
        AsyncEventPublisher publisher = new AsyncEventPublisher(
                (event) -> this.events.add((AuditedOperationEvent) event));
        HttpConsumerServices consumers = consumers(publisher, failure, tokens);
        new ConsumeRoutes(consumers, new RemoteConsumerQueues(10, System::nanoTime)).addTo(routes);
        RequestDispatcher dispatch = new RequestDispatcher(
                new ApiSettings("", 10_000, 10, 10, Duration.ofDays(1), Duration.ZERO, Duration.ofDays(1)),
                new LoopbackAccessControl(), routes);
        LeaseToken token = new LeaseToken(new Lease(Partition.first(CHANGE.queue()), "1", "1"), 0, Instant.EPOCH);
        String[] parts = call.replace("TOKEN", TokenForger.sealed(TOKENS, token)).split(" ", 3);

        publisher.start();
        consumers.start();
        dispatch.handle(request(parts[0], "/queues/orders" + (parts[1].isEmpty() ? "" : "/" + parts[1]),
                (parts.length > 2) ? parts[2] : ""));
        await().until(() -> !this.events.isEmpty());
        consumers.stop();
        publisher.stop();

        assertThat(this.events).singleElement().satisfies((event) -> {
            assertThat(event.principal()).isEqualTo("insecure-local");
            assertThat(event.outcome()).isEqualTo(outcome);
            assertThat(event.count()).isEqualTo(count);
        });
    }

    /** Uses a store that always fails. */
    private static HttpConsumerServices consumers(AsyncEventPublisher publisher, Throwable failure,
            LeaseTokenService tokens) {
        MessageStore store = Mockito.mock(MessageStore.class,
                (invocation) -> invocation.getMethod().getName().equals("isBlocking") ? (Object) false
                        : CompletableFuture.failedFuture(failure));
        StoreComponents components = new StoreComponents(store, Mockito.mock(MessageInspector.class),
                Mockito.mock(WakeUps.class),
                new PartitionLayouts(PartitionLayoutStore.NONE, (queue) -> 0, System::nanoTime));
        ConsumeSettings settings = new ConsumeSettings(Duration.ofMinutes(1), 3, 3, ExpiryPolicy.DROP,
                Duration.ofHours(1), (failures) -> Duration.ZERO);
        return new HttpConsumerServices(components,
                new HttpConsumerCodecs(new EnvelopeCodec(JsonMapper.shared()), tokens), (queue) -> settings,
                new ClaimLimits(10, 10), publisher);
    }

    private static ServerRequest request(String method, String path, String body) {
        String[] parts = path.split("\\?", 2);
        MockHttpServletRequest request = new MockHttpServletRequest(method, parts[0]);
        request.setQueryString((parts.length > 1) ? parts[1] : null);
        request.setContentType("application/json");
        request.setContent(body.getBytes());
        request.setAsyncSupported(true);
        ServletRequestPathUtils.parseAndCache(request);
        return ServerRequest.create(request, List.of());
    }

    /** Canonical, in one line of ASCII, and of bounded length. */
    @Test
    void publishesFiltersAsCompleteJson() {
        String hostile = "\u202e\u2028\n\"]}\u0000";
        DeadLetterFilter filter = new DeadLetterFilter("o", hostile, null, Instant.EPOCH, null, null);

        String text = DeadLetterRoutes.text(filter, null);

        assertThat(text).isEqualTo("{\"idPrefix\":\"o\",\"causeContains\":\"\\u202E\\u2028\\n\\\"]}\\u0000\","
                + "\"deadLetteredBefore\":\"1970-01-01T00:00:00Z\"}");
        assertThat(JsonMapper.shared().readTree(text).path("causeContains").asString()).isEqualTo(hostile);
        assertThat(DeadLetterRoutes.text(DeadLetterFilter.ALL, "c")).isEqualTo("{\"cursor\":\"c\"}");
    }

}
