package io.delayqueue.integration.security;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.Delivery;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.lettuce.core.Range;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.DefaultTyping;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A writer to Redis must not be able to run code, nor to stop others: with any content in
 * any field of a queue, no class is instantiated that the listener did not name, other
 * messages are handled, and the message becomes a dead letter or is skipped. The
 * application's mapper has default typing on, of the worst kind, which must not matter.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class HostileContentIntegrationTests {

    private static final String[] QUEUES = { "records", "maps", "objects", "texts", "bytes", "shapes" };

    private static final Pattern CALLS = Pattern.compile("cmdstat_evalsha:calls=(\\d+)");

    private static RedisServer redis;

    private static RedisClient client;

    static RedisCommands<byte[], byte[]> raw;

    private static Applications applications;

    private static Application application;

    private final Handlers handlers = application.context().getBean(Handlers.class);

    private final DelayQueueOperations queue = application.queue();

    @BeforeAll
    static void start() {
        redis = RedisServer.start(RedisBinary.preferred());
        client = RedisClient.create(redis.uri());
        raw = client.connect(ByteArrayCodec.INSTANCE).sync();
        applications = new Applications();
        application = applications.start(Config.class,
                Applications.at(redis.port(), "delayqueue.safety-poll=200ms", "delayqueue.listener.lease=1s",
                        "delayqueue.listener.max-attempts=2", "delayqueue.listener.max-lapses=1",
                        "delayqueue.listener.backoff.initial=10ms"));
    }

    @AfterAll
    static void stop() {
        applications.close();
        client.shutdown();
        redis.close();
    }

    @AfterEach
    void noForeignClassWasLoaded() {
        assertThat(HostileValues.isForeignClassLoaded()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = { "maps", "objects", "texts", "bytes", "shapes" })
    @Tag("faults")
    void aPayloadOfAnyTypeEndsSo(String name) {
        aPayloadIsHandledOrDeadLetteredAndCreatesNoUnnamedClass(name);
    }

    @ParameterizedTest
    @ValueSource(strings = "records")
    void aPayloadIsHandledOrDeadLetteredAndCreatesNoUnnamedClass(String name) {
        this.handlers.seen.clear();
        int number = 0;
        for (byte[] value : HostileValues.all()) {
            put(name, "m" + number++, value);
        }
        for (byte[] value : HostileValues.all()) {
            put(name, "m" + number++, concat(bytes("s0000000"), value));
        }
        for (String json : HostileValues.payloads()) {
            put(name, "m" + number++, bytes("s0000000{\"payload\":" + json + "}"));
            put(name, "m" + number++, bytes("s0000000{\"headers\":{\"a\":\"b\"},\"payload\":" + json + "}"));
        }

        assertOthersAreHandled(name);
        List<String> all = IntStream.range(0, number).mapToObj((i) -> "m" + i).toList();
        Applications.await(() -> assertThat(handledOrDeadLettered(name)).containsAll(all));
        assertDrains(name);
        assertDeadLettersCanBeListedAndPurged(name);
    }

    /** Returns the ids of messages. */
    private Set<String> handledOrDeadLettered(String name) {
        Set<String> ids = new HashSet<>(this.handlers.seen);
        String cursor = null;
        do {
            DeadLetterPage page = this.queue.deadLetters(name).list(cursor, 100);
            page.deadLetters().forEach((deadLetter) -> ids.add(deadLetter.messageId()));
            cursor = page.nextCursor();
        }
        while (cursor != null);
        return ids;
    }

    @ParameterizedTest
    @EnumSource(HostilePlace.class)
    void aFieldOfAnotherWriterStopsNoNode(HostilePlace place) {
        int number = 0;
        for (byte[] value : HostileValues.all()) {
            place.put("h" + number++, value);
        }

        for (int i = 0; i < number; i += 7) {
            String id = "h" + i;
            orRefused(() -> this.queue.find("records", id));
        }
        orRefused(() -> this.queue.statistics("records"));
        assertOthersAreHandled("records");
        assertDrains("records");
        assertDeadLettersCanBeListedAndPurged("records");
        raw.del(key("records", "primary"), key("records", "waiting"), key("records", "group-heads"),
                key("records", "successors"), key("records", "details"), key("records", "attempts"),
                key("records", "tokens"));
    }

    @Test
    void anInvalidLayoutIsReportedAndOtherQueuesContinue() {
        for (byte[] value : HostileValues.all()) {
            raw.set(key("spread", "partitions"), value);
            orRefused(() -> this.queue.send("spread", "x", Duration.ZERO));
            orRefused(() -> this.queue.cancel("spread", "x"));
            orRefused(() -> this.queue.find("spread", "x"));
            orRefused(() -> this.queue.deadLetters("spread").list(null, 10));
        }
        assertOthersAreHandled("records");
        raw.del(key("spread", "partitions"));
    }

    @ParameterizedTest
    @ValueSource(strings = { "messages", "scheduled", "wake", "partitions", "leased", "details", "attempts", "tokens",
            "successors", "dead-order", "dead-letters", "waiting", "group-heads", "primary", "scheduled:priorities" })
    void aKeyOfAnotherTypeIsReportedAndOtherQueuesGoOn(String kind) {
        // In one step, as a node may take the role of the primary poller at any time.
        raw.eval("redis.call('DEL', KEYS[1]) return redis.call('RPUSH', KEYS[1], 'x')", ScriptOutputType.INTEGER,
                key("maps", kind));
        orRefused(() -> this.queue.send("maps", Map.of("a", "b"), Duration.ZERO));
        orRefused(() -> this.queue.send(DelayedMessage.builder("maps", Map.of()).group("g").priority(9).build()));
        orRefused(() -> this.queue.find("maps", "x"));
        orRefused(() -> this.queue.statistics("maps"));
        orRefused(() -> this.queue.deadLetters("maps").list(null, 10));
        assertOthersAreHandled("records");
        raw.del(key("maps", kind));

        assertOthersAreHandled("maps");
        redis.commands().keys(applications.namespace() + ":{maps}:*").forEach(redis.commands()::del);
    }

    @Test
    void aMessageOnAChannelCostsNoMoreThanAPoll() {
        long before = calls();
        for (byte[] value : HostileValues.all()) {
            for (String name : QUEUES) {
                raw.publish(key(name, "wake"), value);
                raw.publish(key(name, "wake"), concat(bytes("+"), value));
                raw.publish(key(name, "wake"), concat(bytes("k"), value));
            }
        }
        raw.publish(key("records", "wake"), bytes("k999999999999999:999999:evil"));
        raw.publish(key("records", "wake"), bytes("+999999999999999999:999999999999999"));

        assertOthersAreHandled("records");
        assertThat(calls() - before).isLessThan(4L * HostileValues.all().size() * QUEUES.length);
    }

    @Test
    void receiveSkipsWhatCannotBeRead() {
        int number = 0;
        for (byte[] value : HostileValues.all()) {
            put("by-hand", "m" + number++, concat(bytes("s0000000"), value));
        }
        put("by-hand", "good", bytes("s0000000{\"payload\":\"good\"}"));

        boolean found = false;
        while (!found) {
            ReceivedMessage message = this.queue.receive("by-hand", Applications.TIMEOUT).orElseThrow();
            found = message.id().equals("good");
            orRefused(() -> message.payload(Thing.class));
            orRefused(() -> message.payload(Object.class));
            assertThat(message.acknowledge()).isTrue();
        }
        this.queue.deadLetters("by-hand").list(null, 100);
        this.queue.deadLetters("by-hand").purgeAll();
    }

    @Test
    void namesAreLoggedInOneLineEach(CapturedOutput output) {
        put("shapes", bytes("evil\nERROR forged\u001b[31m"), bytes("s0000000{\"payload\":5}"));

        assertOthersAreHandled("shapes");
        assertDrains("shapes");
        Applications.await(() -> assertThat(output.getAll()).contains("evil%0AERROR%20forged%1B[31m"));
        assertThat(output.getAll()).doesNotContain("\nERROR forged");
        assertDeadLettersCanBeListedAndPurged("shapes");
    }

    /** A good message, put in last, comes through. */
    private void assertOthersAreHandled(String name) {
        String id = DelayQueueOperations.class.getSimpleName() + "-" + System.nanoTime();
        Applications.await(() -> {
            try {
                this.queue.send(DelayedMessage.builder(name, good(name)).id(id).build());
            }
            catch (DelayQueueException ex) {
                // A wake mark or primary poller that cannot be read is gone with the next
                // claim.
                assertThat(this.handlers.seen).contains(id);
            }
        });
        Applications.await(() -> assertThat(this.handlers.seen).contains(id));
    }

    private static Object good(String name) {
        return switch (name) {
            case "records" -> new Thing(1, null, null, null, null, null, null, null);
            case "maps" -> Map.of("a", 1);
            case "bytes" -> new byte[] { 1 };
            case "shapes" -> new Circle(1);
            default -> "good";
        };
    }

    /**
     * No due message waits, none is redelivered repeatedly, and no loop is busy.
     */
    private void assertDrains(String name) {
        Applications.await(() -> {
            assertThat(raw.zcount(key(name, "scheduled"), Range.create(Double.NEGATIVE_INFINITY, 4e12))).isZero();
            assertThat(raw.zcount(key(name, "leased"), Range.create(Double.NEGATIVE_INFINITY, 4e18))).isZero();
        });
        Instant from = Applications.timeOf(redis.commands());
        long before = calls();
        Instant until = from.plusMillis(300);
        Applications.awaitTrue("a while is over", () -> Applications.timeOf(redis.commands()).isAfter(until));
        long calls = calls() - before;
        long millis = Duration.between(from, Applications.timeOf(redis.commands())).toMillis();
        assertThat(300 * calls / millis).as("calls in 300 ms").isLessThan(100);
        raw.del(key(name, "scheduled"), key(name, "leased"));
    }

    private void assertDeadLettersCanBeListedAndPurged(String name) {
        this.queue.statistics(name);
        int pages = 0;
        String cursor = null;
        do {
            DeadLetterPage page = this.queue.deadLetters(name).list(cursor, 10);
            for (DeadLetter deadLetter : page.deadLetters()) {
                assertThat(deadLetter.reason()).doesNotContain("FLUSHALL", "jndi");
                assertThat(deadLetter.id()).matches("[!-~]*");
            }
            cursor = page.nextCursor();
            assertThat(++pages).isLessThan(100);
        }
        while (cursor != null);
        orRefused(() -> this.queue.deadLetters(name).redriveAll());
        assertDrains(name);
        Applications.await(() -> {
            this.queue.deadLetters(name).purgeAll();
            assertThat(raw.zcard(key(name, "dead-order"))).isZero();
        });
        raw.del(key(name, "dead-letters"), key(name, "messages"));
    }

    /** Either an answer or an exception that callers know. */
    private static void orRefused(Runnable call) {
        try {
            call.run();
        }
        catch (DelayQueueException ex) {
            for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
                assertThat(String.valueOf(cause.getMessage())).hasSizeLessThan(2000).doesNotContain("FLUSHALL", "jndi");
            }
        }
    }

    private static long calls() {
        Matcher calls = CALLS.matcher(redis.commands().info("commandstats"));
        return calls.find() ? Long.parseLong(calls.group(1)) : 0;
    }

    static void put(String name, String id, byte[] value) {
        put(name, bytes(id), value);
    }

    static void put(String name, byte[] id, byte[] value) {
        raw.hset(key(name, "messages"), id, value);
        raw.zadd(key(name, "scheduled"), 1, id);
    }

    static byte[] key(String name, String kind) {
        return bytes(applications.namespace() + ":{" + name + "}:" + kind);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static byte[] concat(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    record Thing(int number, @Nullable Object any, @Nullable Open open, @Nullable Instant at, @Nullable Duration span,
            @Nullable BigDecimal amount, @Nullable Shape shape, @Nullable Map<String, Object> more) {
    }

    /** An unsafe configuration that applications may have. */
    @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
    interface Open {

    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
    @JsonSubTypes(@JsonSubTypes.Type(value = Circle.class, name = "circle"))
    sealed interface Shape permits Circle {

    }

    record Circle(int radius) implements Shape {
    }

    static class Handlers {

        private final Set<String> seen = ConcurrentHashMap.newKeySet();

        @DelayedListener("records")
        void record(Thing thing, Delivery delivery) {
            this.seen.add(delivery.id());
        }

        @DelayedListener("maps")
        void map(Map<String, Object> map, Delivery delivery) {
            this.seen.add(delivery.id());
        }

        @DelayedListener("objects")
        void object(Object object, Delivery delivery) {
            assertThat(object).isInstanceOfAny(JsonNode.class, byte[].class, Map.class, List.class, String.class,
                    Number.class, Boolean.class);
            this.seen.add(delivery.id());
        }

        @DelayedListener("texts")
        void text(String text, Delivery delivery) {
            this.seen.add(delivery.id());
        }

        @DelayedListener("bytes")
        void bytes(byte[] bytes, Delivery delivery) {
            this.seen.add(delivery.id());
        }

        @DelayedListener("shapes")
        void shape(Shape shape, Delivery delivery) {
            this.seen.add(delivery.id());
        }

    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Config {

        @Bean
        Handlers handlers() {
            return new Handlers();
        }

        @Bean
        JsonMapper jsonMapper() {
            return JsonMapper.builder()
                .activateDefaultTyping(BasicPolymorphicTypeValidator.builder().allowIfBaseType(Object.class).build(),
                        DefaultTyping.NON_FINAL)
                .build();
        }

    }

}
