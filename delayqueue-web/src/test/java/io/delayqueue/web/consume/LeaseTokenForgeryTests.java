package io.delayqueue.web.consume;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.Delivery;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.web.consume.ApiServer.Reply;
import io.delayqueue.web.http.Authority;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Checks P5 over HTTP: no caller, whatever its authorities, settles a message that a
 * listener holds, with any token that can be built from the responses to that caller.
 */
@Tag("server")
class LeaseTokenForgeryTests {

    private static final String QUEUES = ApiServer.PATH + "/queues/";

    private static final List<String> ROUTES = List.of("acknowledge", "acknowledge/batch", "extend", "retry", "release",
            "dead-letter");

    private static final List<@Nullable String> USERS = Stream
        .<@Nullable String>concat(
                Arrays.stream(Authority.values()).map((authority) -> authority.name().toLowerCase(Locale.ROOT)),
                Stream.of(ApiServer.ALL, ApiServer.NONE, null))
        .toList();

    @Test
    @Tag("matrix")
    void noTokenBuiltFromResponsesSettlesAMessageInMemory() {
        try (ApiServer server = ApiServer.start(Holding.class);
                ApiServer foreign = ApiServer.start("delayqueue.namespace=foreign")) {
            tryEverything(server, foreign, Set.of(ApiServer.ALL));
        }
    }

    @Test
    @Tag("matrix")
    void noTokenBuiltFromResponsesSettlesAMessageInRedis() {
        RedisServer redis = RedisServer.shared(RedisBinary.REDIS_7_0);
        try (ApiServer server = ApiServer.start(Holding.class, properties(redis, "forgery"));
                ApiServer foreign = ApiServer.start(properties(redis, "forgery-foreign"))) {
            tryEverything(server, foreign, Set.of(ApiServer.ALL, "consume"));
        }
        finally {
            redis.commands().del(redis.commands().keys("forgery*").toArray(String[]::new));
        }
    }

    private static String[] properties(RedisServer redis, String namespace) {
        return RedisUser.asAsked("spring.data.redis.port=" + redis.port(), "delayqueue.store=redis",
                "delayqueue.namespace=" + namespace);
    }

    private static void tryEverything(ApiServer server, ApiServer foreign, Set<String> thorough) {
        try {
            tryEachCaller(server, foreign, thorough);
        }
        finally {
            server.bean(Holding.class).release.countDown();
        }
    }

    private static void tryEachCaller(ApiServer server, ApiServer foreign, Set<String> thorough) {
        TokenForger forger = new TokenForger();
        String stale = hold(server, forger);
        forger.own(claimed(server, "own", "m"));
        forger.own(claimed(server, "own", "n"));
        forger.own(claimed(foreign, "held", "m"));
        readResponses(server, forger);

        // Callers without CONSUME are rejected before tokens matter, so some suffice.
        int cells = 0;
        for (String user : USERS) {
            for (String route : ROUTES) {
                Set<String> tokens = forger.tokens();
                cells += tryTokens(server, user, route, (user != null && thorough.contains(user)) ? List.copyOf(tokens)
                        : tokens.stream().limit(20).toList());
            }
        }
        assertThat(settle(server, ApiServer.ALL, "acknowledge", stale).status()).isEqualTo(409);
        assertThat(settle(server, ApiServer.ALL, "acknowledge/batch", stale).body()).contains("\"acknowledged\":false");
        assertThat(cells).isGreaterThan(2_500 * thorough.size());
        assertKept(server);
    }

    private static int tryTokens(ApiServer server, @Nullable String user, String route, List<String> tokens) {
        boolean mayConsume = ApiServer.ALL.equals(user) || "consume".equals(user);
        for (String token : tokens) {
            Reply reply = settle(server, user, route, token);
            assertThat(reply.status()).as("%s by %s with %s", route, user, token)
                .isIn((user == null) ? List.of(401) : !mayConsume ? List.of(403)
                        : route.equals("acknowledge/batch") ? List.of(400, 200) : List.of(400, 409));
            if (reply.status() == 200) {
                assertThat(reply.body()).isEqualTo("{\"results\":[{\"id\":\"m\",\"acknowledged\":false}]}");
            }
        }
        return tokens.size();
    }

    /** The caller held the message before the listener, and so has a token of it. */
    private static String hold(ApiServer server, TokenForger forger) {
        server.bean(DelayedListenerRegistry.class).listeners().forEach((listener) -> listener.pause());
        String stale = claimed(server, "held", "m");
        forger.own(stale);
        assertThat(settle(server, ApiServer.ALL, "release", stale).status()).isEqualTo(204);
        server.bean(DelayedListenerRegistry.class).listeners().forEach((listener) -> listener.resume());
        await().until(() -> server.bean(Holding.class).begun.getCount() == 0);
        return stale;
    }

    private static String claimed(ApiServer server, String queue, String id) {
        server.operations().send(DelayedMessage.builder(queue, "x").id(id).delay(Duration.ZERO).build());
        JsonNode message = server.post(QUEUES + queue + "/claims", "{\"waitMillis\": 20000}").json().at("/messages/0");
        assertThat(message.path("id").asString()).isEqualTo(id);
        return message.path("token").asString();
    }

    /** Reads everything that a caller with every authority may see. */
    private static void readResponses(ApiServer server, TokenForger forger) {
        server.operations().send(DelayedMessage.builder("held", "x").id("next").delay(Duration.ZERO).build());
        // The cursor of the first page then contains the exact end of its lease.
        await().until(() -> server.operations().statistics("held").leased() == 2);
        String shown = server.get(QUEUES + "held/messages/by-id?id=m").json().path("leasedUntil").asString();
        assertThat(Instant.parse(shown).getNano() % 100_000_000).as(shown).isZero();
        for (String path : List.of("held/messages/by-id?id=m", "held/messages?listing=LEASED&limit=1", "held",
                "held/due-counts", "own/messages?listing=LEASED&limit=1", "held/messages")) {
            forger.see(server.get(QUEUES + path).body());
        }
    }

    private static Reply settle(ApiServer server, @Nullable String user, String route, String token) {
        String lease = "\"id\": \"m\", \"token\": \"%s\"".formatted(token);
        String body = switch (route) {
            case "acknowledge/batch" -> "{\"leases\": [{" + lease + "}]}";
            case "retry" -> "{" + lease + ", \"failure\": \"f\"}";
            case "dead-letter" -> "{" + lease + ", \"reason\": \"r\"}";
            default -> "{" + lease + "}";
        };
        return server.call(user, "POST", QUEUES + "held/leases/" + route, body);
    }

    /** Checks that the handler has held the message all the time. */
    private static void assertKept(ApiServer server) {
        Holding holding = server.bean(Holding.class);
        holding.release.countDown();
        await().until(() -> holding.leased != null);
        assertThat(holding.leased).as("the lease as the handler sees it").isTrue();
        await().untilAsserted(() -> assertThat(server.operations().find("held", "m")).isEmpty());
        assertThat(server.operations().statistics("held").dead()).isZero();
        assertThat(server.audited()).filteredOn((event) -> "held".equals(event.queue()) && event.count() != 0)
            .extracting((event) -> event.operation())
            .containsExactlyInAnyOrder("claim", "release");
    }

    /** Holds the first message until it is released. */
    @Configuration(proxyBeanMethods = false)
    @Import(ApiServer.Application.class)
    static class Holding {

        private final CountDownLatch begun = new CountDownLatch(1);

        private final CountDownLatch release = new CountDownLatch(1);

        private volatile @Nullable Boolean leased;

        @Bean
        Listener listener() {
            return new Listener(this);
        }

    }

    static class Listener {

        private final Holding holding;

        Listener(Holding holding) {
            this.holding = holding;
        }

        @DelayedListener("held")
        void handle(String payload, Delivery delivery) throws InterruptedException {
            this.holding.begun.countDown();
            this.holding.release.await();
            if (delivery.id().equals("m")) {
                this.holding.leased = delivery.isLeased();
            }
        }

    }

}
