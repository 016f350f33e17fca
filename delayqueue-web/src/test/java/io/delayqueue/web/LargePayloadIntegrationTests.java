package io.delayqueue.web;

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.fixtures.application.ChildJvm;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.web.consume.ApiServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.util.RawValue;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Pages through payloads that would take 28 times their size as trees, with a heap of 256
 * MB: nothing is lost, and other requests are answered meanwhile.
 */
@Tag("server")
@Tag("matrix")
class LargePayloadIntegrationTests {

    private static final String HEAP = "256m";

    private static final int MESSAGES = 102;

    private static final int PAYLOAD = 255_000;

    /** Length of a response: about 1 MiB of contents, always at least one message. */
    private static final int MAX_LENGTH = (1 << 20) + PAYLOAD + 100_000;

    private static final String PAYLOAD_TEXT = "[" + "{},".repeat(PAYLOAD / 3 - 1) + "{}]";

    private static final Pattern MESSAGE = Pattern.compile("\"id\":\"([^\"]+)\",\"token\":\"([^\"]+)\"");

    private static final Pattern LETTER = Pattern.compile("\"deadLetterId\":\"[^\"]+\",\"id\":\"([^\"]+)\"");

    private static final Pattern NEXT = Pattern.compile("\"nextCursor\":\"([^\"]+)\"");

    private final HttpClient client = HttpClient.newHttpClient();

    private final RedisServer redis = RedisServer.shared(RedisBinary.REDIS_7_0);

    private ApiServer sender;

    private ChildJvm child;

    private int port;

    @BeforeEach
    void start() throws Exception {
        String[] properties = RedisUser.asAsked("spring.data.redis.port=" + this.redis.port(), "delayqueue.store=redis",
                "delayqueue.namespace=large", "server.tomcat.threads.max=100");
        this.sender = ApiServer.start(properties);
        this.child = ChildJvm.start(HEAP, ChildServer.class, properties);
        this.port = Integer.parseInt(this.child.next().substring("READY ".length()));
    }

    @AfterEach
    void stop() {
        this.child.close();
        this.sender.close();
        List<String> keys = this.redis.commands().keys("large:*");
        if (!keys.isEmpty()) {
            this.redis.commands().del(keys.toArray(String[]::new));
        }
    }

    @Test
    void largeClaimsAreAnsweredInPagesAndBlockNoOthers() {
        send("q", MESSAGES);
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger others = new AtomicInteger();
        CompletableFuture<Void> other = CompletableFuture.runAsync(() -> {
            while (!over.get()) {
                this.sender.operations().send("other", "x", Duration.ZERO);
                assertThat(settleAll("other", claim("other", 1), "acknowledge", "")).hasSize(1);
                others.incrementAndGet();
            }
        });
        Set<String> handled = new TreeSet<>();
        int claims = 0;
        while (handled.size() < MESSAGES) {
            HttpResponse<String> reply = claim("q", 100);
            assertThat(reply.body().length()).as("length of an answer").isLessThan(MAX_LENGTH);
            assertThat(reply.body()).contains(PAYLOAD_TEXT);
            claims++;
            handled.addAll(settleAll("q", reply, "acknowledge", ""));
        }
        over.set(true);
        other.join();

        assertThat(handled).hasSize(MESSAGES);
        assertThat(claims).isGreaterThanOrEqualTo(MESSAGES * PAYLOAD / MAX_LENGTH);
        assertThat(others.get()).as("messages of another queue meanwhile").isPositive();
        assertNeverFull();
    }

    /** Each claim gets as much as a response may have. */
    @Test
    void manyConcurrentConsumersFitIntoTheHeap() {
        int consumers = 64;
        send("many", 4 * consumers);
        Set<String> handled = new ConcurrentSkipListSet<>();
        allOf(consumers, (i) -> handled.addAll(settleAll("many", claim("many", 4), "acknowledge", "")));

        while (handled.size() < 4 * consumers) {
            handled.addAll(settleAll("many", claim("many", 4), "acknowledge", ""));
        }
        assertNeverFull();
    }

    @Test
    void largeDeadLettersAreListedInPages() {
        send("dead", MESSAGES);
        Set<String> died = new TreeSet<>();
        while (died.size() < MESSAGES) {
            died.addAll(settleAll("dead", claim("dead", 4), "dead-letter", ", \"reason\": \"r\""));
        }
        List<String> listed = new ArrayList<>();
        String cursor = "";
        do {
            HttpResponse<String> page = call(HttpRequest.newBuilder().GET(), "dead/dead-letters?limit=100" + cursor);
            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.body().length()).as("length of a page").isLessThan(MAX_LENGTH);
            LETTER.matcher(page.body()).results().forEach((deadLetter) -> listed.add(deadLetter.group(1)));
            Matcher next = NEXT.matcher(page.body());
            cursor = next.find() ? "&cursor=" + URLEncoder.encode(next.group(1), StandardCharsets.UTF_8) : "";
        }
        while (!cursor.isEmpty());

        assertThat(listed).hasSize(MESSAGES).containsExactlyInAnyOrderElementsOf(died);
        assertNeverFull();
    }

    @Test
    void manyConcurrentBatchesFitIntoTheHeap() {
        String body = IntStream.range(0, 3)
            .mapToObj((i) -> "{\"delayMillis\": 3600000, \"payload\": " + PAYLOAD_TEXT + "}")
            .collect(Collectors.joining(",", "{\"messages\": [", "]}"));
        allOf(64, (i) -> assertThat(post("sent/messages/batch", body).statusCode()).isEqualTo(200));

        assertThat(this.sender.operations().statistics("sent").scheduled()).isEqualTo(64 * 3);
        assertNeverFull();
    }

    private static void allOf(int number, IntConsumer task) {
        ExecutorService threads = Executors.newFixedThreadPool(number);
        try {
            CompletableFuture
                .allOf(IntStream.range(0, number)
                    .mapToObj((i) -> CompletableFuture.runAsync(() -> task.accept(i), threads))
                    .toArray(CompletableFuture<?>[]::new))
                .join();
        }
        finally {
            threads.shutdown();
        }
    }

    private HttpResponse<String> claim(String queue, int most) {
        HttpResponse<String> reply = post(queue + "/claims", "{\"max\": %d, \"waitMillis\": 20000}".formatted(most));
        assertThat(reply.statusCode()).as(() -> reply.body() + this.child.output()).isEqualTo(200);
        return reply;
    }

    private Set<String> settleAll(String queue, HttpResponse<String> claimed, String operation, String more) {
        Set<String> ids = new TreeSet<>();
        Matcher messages = MESSAGE.matcher(claimed.body());
        while (messages.find()) {
            assertThat(ids.add(messages.group(1))).isTrue();
            String lease = "{\"id\": \"%s\", \"token\": \"%s\"%s}".formatted(messages.group(1), messages.group(2),
                    more);
            assertThat(post(queue + "/leases/" + operation, lease).statusCode()).isEqualTo(204);
        }
        return ids;
    }

    private void assertNeverFull() {
        assertThat(this.child.output()).noneMatch((line) -> line.contains("OutOfMemoryError"));
    }

    private void send(String queue, int messages) {
        DelayQueueOperations operations = this.sender.operations();
        for (int i = 0; i < messages; i++) {
            operations.send(DelayedMessage.builder(queue, new RawValue(PAYLOAD_TEXT))
                .id("m-%03d".formatted(i))
                .delay(Duration.ZERO)
                .build());
        }
    }

    private HttpResponse<String> post(String path, String body) {
        return call(HttpRequest.newBuilder().POST(BodyPublishers.ofString(body)), path);
    }

    private HttpResponse<String> call(HttpRequest.Builder request, String path) {
        return this.client
            .sendAsync(request
                .uri(URI.create("http://127.0.0.1:%d%s/queues/%s".formatted(this.port, ApiServer.PATH, path)))
                .header("Content-Type", "application/json")
                .header("Authorization", ApiServer.basic(ApiServer.ALL))
                .timeout(Duration.ofMinutes(2))
                .build(), BodyHandlers.ofString())
            .join();
    }

}
