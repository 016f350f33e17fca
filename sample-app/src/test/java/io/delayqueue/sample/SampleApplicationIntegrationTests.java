package io.delayqueue.sample;

import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.QueueStatistics;
import io.delayqueue.sample.ShopEvent.Kind;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.kafka.test.EmbeddedKafkaBroker;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;

/** Runs the whole application on its embedded Redis, with little time to pay. */
@ExtendWith(EmbeddedRedisRequired.class)
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = { "sample.payment-window=4s", "sample.receipt-delay=10ms",
                "delayqueue.queues.receipt.backoff.initial=50ms" })
@Tag("server")
class SampleApplicationIntegrationTests {

    @LocalServerPort
    private int port;

    @Autowired
    private DelayQueueOperations delayQueue;

    @Autowired
    private EventLog events;

    @Autowired
    private MailServer mailServer;

    @Autowired
    private ObjectProvider<UserDetailsService> users;

    @Autowired
    private ObjectProvider<EmbeddedKafkaBroker> kafka;

    private RestClient http;

    @BeforeEach
    void connect() {
        this.http = RestClient.builder()
            .baseUrl("http://127.0.0.1:" + this.port)
            .defaultStatusHandler((status) -> true, (request, response) -> {
            })
            .build();
        this.mailServer.setRepaired(false);
        resumeOrders();
    }

    /** The classes of a profile are on the class path of every other one too. */
    @Test
    void noBrokerIsStartedWithoutTheProfileKafka() {
        assertThat(this.kafka).isEmpty();
    }

    @Test
    void unpaidOrderIsRemindedOfAndThenCancelledAndNeverEarly() {
        OrderView order = place("Kettle", "none");

        await().until(() -> kinds(order.id()).contains(Kind.CANCELLED));

        assertThat(kinds(order.id())).containsExactly(Kind.PLACED, Kind.REMINDED, Kind.CANCELLED);
        assertThat(lateness(order.id())).hasSize(2).allSatisfy((millis) -> assertThat(millis).isNotNegative());
        assertThat(state(order.id())).isEqualTo(Order.State.CANCELLED);
    }

    @Test
    void paidOrderIsNotCancelled() {
        Payment payment = placeAndPay("Tea", "none");
        OrderView paid = payment.order();
        OrderView later = place("Coffee", "none");

        await().until(() -> state(later.id()) == Order.State.CANCELLED);

        assertThat(paid.state()).isEqualTo(Order.State.PAID);
        assertThat(payment.timeout()).isEqualTo(CancelResult.CANCELLED);
        assertThat(payment.reminder()).isEqualTo(CancelResult.CANCELLED);
        assertThat(state(paid.id())).isEqualTo(Order.State.PAID);
        assertThat(kinds(paid.id())).containsExactly(Kind.PLACED, Kind.PAID, Kind.RECEIPT_SENT);
    }

    @Test
    void orderIsPaidOnlyOnceAndNotAfterItsTimeout() {
        OrderView paid = placeAndPay("Milk", "none").order();
        OrderView cancelled = place("Honey", "none");
        await().until(() -> state(cancelled.id()) == Order.State.CANCELLED);

        assertThat(problem("/orders/%s/pay".formatted(paid.id())).getDetail()).isEqualTo("Too late: order '%s' is PAID",
                paid.id());
        assertThat(problem("/orders/%s/pay".formatted(cancelled.id())).getDetail())
            .isEqualTo("Too late: order '%s' is CANCELLED", cancelled.id());
        assertThat(problem("/orders/%s/extend".formatted(cancelled.id())).getStatus())
            .isEqualTo(HttpStatus.CONFLICT.value());
        assertThat(problem("/orders/nobody/pay").getStatus()).isEqualTo(HttpStatus.NOT_FOUND.value());
    }

    @Test
    void extendedOrderOutlivesOneThatWasPlacedLater() {
        this.delayQueue.pause(Queues.ORDER_TIMEOUT);
        OrderView extended = place("Sugar", "none");
        OrderView later = place("Salt", "none");
        await().until(() -> kinds(later.id()).contains(Kind.REMINDED));
        ResponseEntity<OrderView> answer = this.http.post()
            .uri("/orders/{id}/extend", extended.id())
            .retrieve()
            .toEntity(OrderView.class);
        resumeOrders();

        await().until(() -> kinds(extended.id()).contains(Kind.CANCELLED));

        assertThat(answer.getStatusCode()).isEqualTo(HttpStatus.OK);
        assertThat(at(extended.id(), Kind.CANCELLED)).isAfterOrEqualTo(at(later.id(), Kind.PLACED).plusSeconds(4));
    }

    @Test
    void failingReceiptIsRetriedAndSent() {
        OrderView order = placeAndPay("Biscuits", "flaky-receipt").order();

        await().until(() -> kinds(order.id()).contains(Kind.RECEIPT_SENT));

        assertThat(kinds(order.id())).containsExactly(Kind.PLACED, Kind.PAID, Kind.RECEIPT_FAILED, Kind.RECEIPT_FAILED,
                Kind.RECEIPT_SENT);
    }

    @Test
    void poisonReceiptIsDeadLetteredAndSentWhenRedrivenAfterTheFix() {
        OrderView order = placeAndPay("Poison", "poison-receipt").order();
        await().until(() -> kinds(order.id()).contains(Kind.DEAD));
        DeadLetterView deadLetter = deadLetters().stream()
            .filter((candidate) -> candidate.orderId().equals(order.id()))
            .findFirst()
            .orElseThrow();
        // As the README shows it.
        assertThat(this.http.get().uri("/dead-letters").retrieve().body(String.class))
            .contains("\"deadLetteredAt\":\"" + deadLetter.deadLetteredAt() + "\"");

        this.http.put()
            .uri("/mail-server")
            .contentType(MediaType.APPLICATION_JSON)
            .body(Map.of("repaired", true))
            .retrieve()
            .toBodilessEntity();
        HttpStatus redriven = post("/dead-letters/{id}/redrive", deadLetter.id());
        await().until(() -> kinds(order.id()).contains(Kind.RECEIPT_SENT));

        assertThat(deadLetter.failures()).isEqualTo(4);
        assertThat(deadLetter.cause()).contains("The mail server does not take the receipt").doesNotContain("\n");
        assertThat(redriven).isEqualTo(HttpStatus.OK);
        assertThat(kinds(order.id())).containsExactly(Kind.PLACED, Kind.PAID, Kind.RECEIPT_FAILED, Kind.RECEIPT_FAILED,
                Kind.RECEIPT_FAILED, Kind.RECEIPT_FAILED, Kind.DEAD, Kind.RECEIPT_SENT);
        assertThat(deadLetters()).extracting(DeadLetterView::orderId).doesNotContain(order.id());
        assertThat(post("/dead-letters/{id}/redrive", deadLetter.id())).isEqualTo(HttpStatus.NOT_FOUND);
    }

    @Test
    void deadLetterCanBeDeleted() {
        OrderView order = placeAndPay("Arsenic", "poison-receipt").order();
        await().until(() -> deadLetters().stream().anyMatch((deadLetter) -> deadLetter.orderId().equals(order.id())));
        String id = deadLetters().stream()
            .filter((deadLetter) -> deadLetter.orderId().equals(order.id()))
            .findFirst()
            .orElseThrow()
            .id();

        assertThat(delete(id)).isEqualTo(HttpStatus.NO_CONTENT);
        assertThat(delete(id)).isEqualTo(HttpStatus.NOT_FOUND);
        assertThat(deadLetters()).extracting(DeadLetterView::id).doesNotContain(id);
    }

    @Test
    void queuesAreEmptyOnceAllOrdersAreDone() {
        placeAndPay("Last", "none");

        await().untilAsserted(() -> assertThat(Queues.ALL.stream().map(this.delayQueue::statistics))
            .allSatisfy((queue) -> assertThat(queue)
                .isEqualTo(new QueueStatistics(queue.queue(), 0, 0, 0, queue.dead(), null))));
    }

    @Test
    void markupInANameIsTextAndNothingElse() throws Exception {
        String name = "<img src=x onerror=alert(1)>";
        OrderView order = place(name, "none");

        assertThat(order.item()).isEqualTo(name);
        assertThat(this.http.get().uri("/orders").retrieve().toEntity(String.class)).satisfies((response) -> {
            assertThat(response.getHeaders().getContentType()).isNotNull()
                .matches((type) -> type.isCompatibleWith(MediaType.APPLICATION_JSON));
            assertThat(response.getBody()).contains("\"item\":\"" + name + "\"");
        });
        try (InputStream script = getClass().getResourceAsStream("/static/app.js")) {
            assertThat(script).isNotNull();
            assertThat(new String(script.readAllBytes(), StandardCharsets.UTF_8)).contains("textContent")
                .doesNotContain("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(");
        }
    }

    @Test
    void invalidOrdersAreRejectedWithTheRule() {
        assertThat(refusal(Map.of("amount", 1))).contains("'item' is not valid");
        assertThat(refusal(Map.of("item", "two\nlines", "amount", 1))).contains("'item' is not valid");
        assertThat(refusal(Map.of("item", "Tea"))).contains("'amount' is not valid");
        assertThat(refusal(Map.of("item", "Tea", "amount", 0.001))).contains("'amount' is not valid");
    }

    @Test
    void streamBeginsWithRecentEventsAndCarriesTheState() throws Exception {
        OrderView order = place("Streamed", "none");
        HttpRequest request = HttpRequest
            .newBuilder(URI.create("http://127.0.0.1:%d/events?state=true".formatted(this.port)))
            .timeout(Duration.ofSeconds(60))
            .build();

        HttpResponse<InputStream> response = HttpClient.newHttpClient()
            .send(request, HttpResponse.BodyHandlers.ofInputStream());
        List<String> first;
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
            first = lines.lines().takeWhile((line) -> !line.startsWith("data:{\"orders\"")).toList();
        }

        assertThat(response.headers().firstValue("Content-Type"))
            .hasValueSatisfying((type) -> assertThat(type).startsWith(MediaType.TEXT_EVENT_STREAM_VALUE));
        assertThat(first).contains("event:event", "event:state")
            .anyMatch((line) -> line.contains("\"kind\":\"PLACED\",\"orderId\":\"%s\"".formatted(order.id())));
    }

    @Test
    void pageIsServedWithItsScriptAndStyle() {
        for (String path : List.of("/", "/app.js", "/style.css", "/icon.svg")) {
            assertThat(this.http.get().uri(path).retrieve().toBodilessEntity().getStatusCode())
                .isEqualTo(HttpStatus.OK);
        }
    }

    @Test
    void needsNoPasswordAndOpensNothingToOperators() {
        for (String path : List.of("/", "/orders", "/dead-letters")) {
            assertThat(status(path)).isEqualTo(HttpStatus.OK);
        }
        for (String path : List.of("/actuator", "/actuator/health", "/actuator/prometheus", "/actuator/delayqueue",
                "/delayqueue", "/delayqueue/api/v1/openapi.json")) {
            assertThat(status(path)).as(path).isEqualTo(HttpStatus.NOT_FOUND);
        }
        assertThat(this.users.stream()).as("users that Boot invents").isEmpty();
    }

    private static ConditionFactory await() {
        return Awaitility.await().atMost(Duration.ofSeconds(60));
    }

    /** Pauses the queues of open orders, so that a stall of the machine ends none. */
    private void pauseOrders() {
        this.delayQueue.pause(Queues.ORDER_REMINDER);
        this.delayQueue.pause(Queues.ORDER_TIMEOUT);
    }

    private void resumeOrders() {
        this.delayQueue.resume(Queues.ORDER_REMINDER);
        this.delayQueue.resume(Queues.ORDER_TIMEOUT);
    }

    private Payment placeAndPay(String item, String simulate) {
        pauseOrders();
        Payment payment = pay(place(item, simulate).id()).getBody();
        resumeOrders();
        assertThat(payment).isNotNull();
        return payment;
    }

    private OrderView place(String item, String simulate) {
        OrderView order = this.http.post()
            .uri("/orders")
            .contentType(MediaType.APPLICATION_JSON)
            .body(Map.of("item", item, "amount", 42.5, "simulate", simulate))
            .retrieve()
            .body(OrderView.class);
        assertThat(order).isNotNull();
        return order;
    }

    private ResponseEntity<Payment> pay(String id) {
        ResponseEntity<Payment> answer = this.http.post()
            .uri("/orders/{id}/pay", id)
            .retrieve()
            .toEntity(Payment.class);
        assertThat(answer.getStatusCode()).isEqualTo(HttpStatus.OK);
        return answer;
    }

    private HttpStatus post(String path, String id) {
        return HttpStatus.valueOf(this.http.post().uri(path, id).retrieve().toBodilessEntity().getStatusCode().value());
    }

    private HttpStatus status(String path) {
        return HttpStatus.valueOf(this.http.get().uri(path).retrieve().toBodilessEntity().getStatusCode().value());
    }

    private HttpStatus delete(String id) {
        return HttpStatus.valueOf(
                this.http.delete().uri("/dead-letters/{id}", id).retrieve().toBodilessEntity().getStatusCode().value());
    }

    private ProblemDetail problem(String path) {
        ProblemDetail problem = this.http.post().uri(path).retrieve().body(ProblemDetail.class);
        assertThat(problem).isNotNull();
        return problem;
    }

    private String refusal(Map<String, Object> request) {
        ResponseEntity<ProblemDetail> answer = this.http.post()
            .uri("/orders")
            .contentType(MediaType.APPLICATION_JSON)
            .body(request)
            .retrieve()
            .toEntity(ProblemDetail.class);
        assertThat(answer.getStatusCode()).isEqualTo(HttpStatus.BAD_REQUEST);
        assertThat(answer.getBody()).isNotNull();
        return String.valueOf(answer.getBody().getDetail());
    }

    private Order.State state(String id) {
        List<OrderView> orders = this.http.get().uri("/orders").retrieve().body(new ParameterizedTypeReference<>() {
        });
        assertThat(orders).isNotNull();
        return orders.stream().filter((order) -> order.id().equals(id)).findFirst().orElseThrow().state();
    }

    private List<DeadLetterView> deadLetters() {
        List<DeadLetterView> deadLetters = this.http.get()
            .uri("/dead-letters")
            .retrieve()
            .body(new ParameterizedTypeReference<>() {
            });
        assertThat(deadLetters).isNotNull();
        return deadLetters;
    }

    private Stream<ShopEvent> allEvents() {
        return this.events.after(0).stream();
    }

    private List<Kind> kinds(String orderId) {
        return allEvents().filter((event) -> orderId.equals(event.orderId())).map(ShopEvent::kind).toList();
    }

    private Instant at(String orderId, Kind kind) {
        return allEvents().filter((event) -> orderId.equals(event.orderId()) && event.kind() == kind)
            .map(ShopEvent::at)
            .findFirst()
            .orElseThrow();
    }

    private List<Long> lateness(String orderId) {
        return allEvents().filter((event) -> orderId.equals(event.orderId()) && event.latenessMillis() != null)
            .map(ShopEvent::latenessMillis)
            .toList();
    }

}
