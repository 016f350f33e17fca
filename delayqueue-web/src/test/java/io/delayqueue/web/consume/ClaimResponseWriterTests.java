package io.delayqueue.web.consume;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.QueueName;
import io.delayqueue.admin.AuditedOperationEvent;
import io.delayqueue.consume.MessageClaimer;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.Lease;
import io.delayqueue.store.Partition;
import io.delayqueue.web.consume.ApiServer.Reply;
import io.delayqueue.web.http.ApiViews;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;
import tools.jackson.databind.JsonNode;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.servlet.function.ServerResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.awaitility.Awaitility.await;
import static org.mockito.BDDMockito.willThrow;

/**
 * Checks that a claimed message reaches its caller, or is released without counting an
 * attempt: P12 for consumers over HTTP.
 */
@Tag("server")
class ClaimResponseWriterTests {

    private static final String QUEUES = ApiServer.PATH + "/queues/";

    private static final List<ClaimedHttpMessage> MESSAGES = List.of(new ClaimedHttpMessage(
            new ClaimedMessage(new Lease(Partition.first(new QueueName("q")), "1", "1"), Instant.EPOCH, 0, 0, false,
                    null, null, new byte[0]),
            "token", Map.of(), "{}", new MessageClaimer.Term(0, Duration.ofMinutes(1))));

    private static ApiServer server;

    private final MockHttpServletRequest request = new MockHttpServletRequest();

    private final MockHttpServletResponse response = new MockHttpServletResponse();

    private final CompletableFuture<List<ClaimedHttpMessage>> claim = CompletableFuture.completedFuture(MESSAGES);

    private final List<ClaimedHttpMessage> back = new ArrayList<>();

    private final List<String> outcomes = new ArrayList<>();

    private final List<Throwable> failures = new ArrayList<>();

    private final ClaimResponseWriter handOver = ClaimResponseWriter.of(this.request, this.claim, this.back::addAll,
            this.failures::add);

    @BeforeAll
    static void start() {
        server = ApiServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** The lease is one minute; another consumer gets the message long before. */
    @Test
    void messagesOfADisconnectedClientAreDeliveredToAnother() throws Exception {
        LongPolling polls = server.bean(HttpConsumerServices.class).polls();
        try (Socket socket = waiting("gone")) {
            await().until(() -> polls.waiting() == 1);
        }

        server.post(QUEUES + "gone/messages", "{\"id\": \"1\", \"payload\": 1}");
        Reply claimed = server.post(QUEUES + "gone/claims", "{\"waitMillis\": 20000}");

        JsonNode message = claimed.json().at("/messages/0");
        assertThat(message.path("id").asString()).isEqualTo("1");
        assertThat(message.path("attempt").intValue()).isEqualTo(1);
        await().until(() -> polls.waiting() == 0);
        await().untilAsserted(() -> assertThat(server.audited())
            .filteredOn((event) -> "gone".equals(event.queue()) && event.operation().equals("claim"))
            .containsExactlyInAnyOrder(
                    new AuditedOperationEvent("all", "claim", "gone", null, AuditedOperationEvent.UNKNOWN),
                    new AuditedOperationEvent("all", "claim", "gone", null, 1)));
    }

    private static Socket waiting(String queue) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
        String body = "{\"waitMillis\": 60000, \"leaseMillis\": 60000}";
        socket.getOutputStream()
            .write(("POST %s%s/claims HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n"
                    + "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s")
                .formatted(QUEUES, queue, ApiServer.basic(ApiServer.ALL), body.length(), body)
                .getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    /** Stops the application: the claim is answered, although its wait is not over. */
    @Test
    void aStopAnswersWaitingClaims() throws Exception {
        try (ApiServer stopped = ApiServer.start();
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), stopped.port())) {
            String body = "{\"waitMillis\": 60000}";
            socket.getOutputStream()
                .write(("POST %sq/claims HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\n"
                        + "Content-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s")
                    .formatted(QUEUES, ApiServer.basic(ApiServer.ALL), body.length(), body)
                    .getBytes(StandardCharsets.US_ASCII));
            LongPolling polls = stopped.bean(HttpConsumerServices.class).polls();
            await().until(() -> polls.waiting() == 1);

            stopped.close();

            InputStream answer = socket.getInputStream();
            assertThat(new String(answer.readAllBytes(), StandardCharsets.UTF_8)).startsWith("HTTP/1.1 200")
                .endsWith("{\"messages\":[]}");
        }
    }

    /** The web server stops later. */
    @Test
    void aClaimDuringAStopIsRejectedUntilARetry() {
        try (ApiServer stopping = ApiServer.start()) {
            stopping.bean(HttpConsumerServices.class).stop();

            Reply rejected = stopping.post(QUEUES + "q/claims", "{}");

            assertThat(rejected.status()).isEqualTo(503);
            assertThat(rejected.problem()).isEqualTo("not-running");
            assertThat(rejected.header("Retry-After")).isEqualTo("1");
            assertThat(stopping.audited()).isEmpty();
        }
    }

    /** Listeners of the audit and of dead letters do not block consumers. */
    @Test
    void aHangingListenerBlocksNoConsumer() {
        try (ApiServer hanging = ApiServer.start(Hanging.class)) {
            for (int i = 0; i < 3; i++) {
                hanging.operations().send("hung", "x", Duration.ZERO);
                JsonNode message = hanging.post(QUEUES + "hung/claims", "{\"waitMillis\": 20000}")
                    .json()
                    .at("/messages/0");
                assertThat(hanging
                    .post(QUEUES + "hung/leases/" + ((i < 2) ? "dead-letter" : "acknowledge"),
                            "{\"id\": \"%s\", \"token\": \"%s\"%s}".formatted(message.path("id").asString(),
                                    message.path("token").asString(), (i < 2) ? ", \"reason\": \"r\"" : ""))
                    .status()).isEqualTo(204);
            }
            hanging.bean(Hanging.class).release.countDown();
        }
    }

    @Test
    void publishesTheOutcomeOnceTheResponseIsWritten() throws Exception {
        answer().writeTo(this.request, this.response, List::of);
        end();

        assertThat(this.response.getContentAsString()).isEqualTo("{\"messages\":1}");
        assertThat(this.outcomes).containsExactly("DONE");
        assertThat(this.back).isEmpty();
    }

    @Test
    void releasesTheMessagesIfTheResponseCannotBeBuilt() throws Exception {
        this.handOver.answer(MESSAGES, (messages) -> {
            throw new IllegalStateException("cannot be made");
        }, (outcome) -> this.outcomes.add(outcome.name())).writeTo(this.request, this.response, List::of);

        assertThat(this.back).isEqualTo(MESSAGES);
        assertThat(this.response.getStatus()).isEqualTo(500);
        assertThat(this.response.getContentType()).isEqualTo("application/problem+json");
        assertThat(this.failures).singleElement().extracting(Throwable::getMessage).isEqualTo("cannot be made");
        assertThat(this.outcomes).isEmpty();
    }

    @Test
    void releasesTheMessagesIfTheResponseCannotBeWritten() throws Exception {
        HttpServletResponse broken = Mockito.spy(this.response);
        willThrow(new IOException("Broken pipe")).given(broken).flushBuffer();

        assertThatIOException().isThrownBy(() -> answer().writeTo(this.request, broken, List::of));
        end();

        assertThat(this.back).as("once").isEqualTo(MESSAGES);
        assertThat(this.outcomes).as("the outcome for the caller").containsExactly("UNKNOWN");
    }

    @Test
    void releasesTheMessagesIfTheRequestEndsFirst() {
        end();

        assertThat(this.back).isEqualTo(MESSAGES);
        assertThatIOException().isThrownBy(() -> answer().writeTo(this.request, this.response, List::of));
        assertThat(this.response.getContentAsByteArray()).isEmpty();
    }

    @Test
    void endsAWaitingClaimWithItsRequest() {
        CompletableFuture<List<ClaimedHttpMessage>> waiting = new CompletableFuture<>();
        ClaimResponseWriter.of(this.request, waiting, this.back::addAll, this.failures::add)
            .afterCompletion(null, null);

        assertThat(waiting).isCompletedWithValue(List.of());
        assertThat(this.back).isEmpty();
    }

    private ServerResponse answer() {
        return this.handOver.answer(MESSAGES, (messages) -> ApiViews.object().put("messages", messages.size()),
                (outcome) -> this.outcomes.add(outcome.name()));
    }

    /** Ends the request like the container. */
    private void end() {
        this.handOver.afterCompletion(null, null);
    }

    /** Receives the events of consumers, and hangs. */
    @Configuration(proxyBeanMethods = false)
    @Import(ApiServer.Application.class)
    static class Hanging {

        private final CountDownLatch release = new CountDownLatch(1);

        @EventListener({ AuditedOperationEvent.class, DeadLetterEvent.class })
        void heard() throws InterruptedException {
            this.release.await();
        }

    }

}
