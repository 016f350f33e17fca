package io.delayqueue.integration.security;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import io.delayqueue.BatchSendException;
import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.Delivery;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoredMessage;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.store.envelope.EnvelopeCodec;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Size;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.validation.annotation.Validated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The content of payloads and headers is in no line of the log, at any level, and in no
 * exception, event or dead-letter cause of the library. Exceptions of a handler are the
 * application's own.
 */
@Tag("server")
class PrivatePayloadIntegrationTests {

    private static final String SECRET = "5105105105105100";

    private static final Instant FAR = Instant.parse("2999-01-01T00:00:00Z");

    private static final Log log = new Log();

    private static RedisServer redis;

    private static Applications applications;

    private static Application application;

    private final DelayQueueOperations queue = application.queue();

    private final Handlers handlers = application.context().getBean(Handlers.class);

    @BeforeAll
    static void start() {
        redis = RedisServer.start(RedisBinary.preferred());
        applications = new Applications();
        application = applications.start(Config.class,
                Applications.at(redis.port(), "delayqueue.safety-poll=200ms", "delayqueue.listener.max-attempts=2",
                        "delayqueue.listener.backoff.initial=10ms", "delayqueue.max-payload-size=2KB",
                        "delayqueue.queues.late.expiry-policy=dead-letter"));
        log.begin();
    }

    @AfterAll
    static void stop() {
        log.end();
        applications.close();
        redis.close();
    }

    @BeforeEach
    void forget() {
        log.lines.clear();
        this.handlers.ended.clear();
        this.handlers.told.clear();
    }

    @AfterEach
    void nothingIsLogged() {
        assertThat(log.lines).noneMatch((line) -> line.contains(SECRET));
    }

    @ParameterizedTest
    @ValueSource(strings = { "good", "failing", "numbers", "colours", "maps", "headers", "amounts", "books", "missing",
            "unknown" })
    void whateverBecomesOfAMessage(String name) {
        Object payload = switch (name) {
            case "books" -> Map.of("pages", Map.of(SECRET + "]." + SECRET, Map.of("words", SECRET)));
            case "maps" -> Map.of(SECRET, SECRET);
            case "unknown" -> Map.of("secret", Map.of(SECRET, SECRET));
            case "amounts" -> Map.of("secret", SECRET, "amount", Long.parseLong(SECRET));
            default -> Map.of("secret", SECRET);
        };
        this.queue.send(DelayedMessage.builder(name, payload).id("m").header("tries", SECRET).build());

        Applications.await(() -> assertThat(this.handlers.ended).contains(name));
        assertThat(log.lines).isNotEmpty();
        List<DeadLetter> deadLetters = this.queue.deadLetters(name).list(null, 10).deadLetters();
        assertThat(deadLetters).hasSize(name.equals("good") ? 0 : 1).allSatisfy((deadLetter) -> {
            assertThat(deadLetter.cause() + deadLetter.firstFailure() + deadLetter.reason() + deadLetter)
                .doesNotContain(SECRET);
            assertThat(deadLetter.payload()).contains(SECRET);
        });
        assertThat(this.handlers.told).noneMatch((event) -> event.contains(SECRET));
    }

    @Test
    void aMessageThatExpires() {
        this.queue.send(DelayedMessage.builder("late", SECRET)
            .header("tries", SECRET)
            .dueAt(Instant.EPOCH.plusSeconds(1))
            .timeToLive(Duration.ofMillis(1))
            .build());

        Applications.await(() -> assertThat(this.handlers.ended).contains("late"));
    }

    @Test
    void aSendThatIsRefused() {
        quotesNothing(() -> send("waiting", SECRET.repeat(200)), IllegalArgumentException.class);
        quotesNothing(() -> send("waiting", Map.of(SECRET, new Broken())), PayloadConversionException.class);
        Map<String, Object> endless = new HashMap<>();
        endless.put(SECRET, endless);
        quotesNothing(() -> send("waiting", endless), PayloadConversionException.class);
    }

    @Test
    void aSendToARedisThatIsFull() {
        redis.commands().configSet("maxmemory", "1");
        try {
            quotesNothing(() -> send("waiting", SECRET), StoreRefusedException.class);
            quotesNothing(() -> this.queue.sendAll(List.of(message("waiting", SECRET), message("waiting", SECRET))),
                    BatchSendException.class);
        }
        finally {
            redis.commands().configSet("maxmemory", "0");
        }
    }

    @Test
    void aSendToAStoreThatIsAway() {
        try (RedisServer other = RedisServer.start(RedisBinary.preferred())) {
            try (Application sender = new Applications().withoutHandler(other, "delayqueue.command-timeout=500ms")) {
                log.begin();
                other.kill();
                quotesNothing(() -> sender.queue().send(message("waiting", SECRET)), DelayQueueException.class);
                sender.close();
                quotesNothing(() -> sender.queue().send(message("waiting", SECRET)), RuntimeException.class);
            }
        }
    }

    @Test
    void whatAPayloadIsReadAs() {
        send("waiting", Map.of(SECRET, SECRET));
        ReceivedMessage received = this.queue.receive("waiting", Applications.TIMEOUT).orElseThrow();

        assertThat(received.headers()).containsValue(SECRET);
        quotesNothing(() -> received.payload(Integer.class), PayloadConversionException.class);
        quotesNothing(() -> received.payload(Colour.class), PayloadConversionException.class);
        assertThat(received.toString()).doesNotContain(SECRET);
        received.acknowledge();
    }

    @Test
    void theTextsOfWhatHoldsAMessage() {
        DelayedMessage message = DelayedMessage.builder("waiting", SECRET)
            .id("kept")
            .header("tries", SECRET)
            .dueAt(FAR)
            .build();
        Object result = this.queue.send(message);
        StoredMessage found = this.queue.find("waiting", "kept").orElseThrow();

        assertThat(found.payload() + found.headers()).contains(SECRET);
        assertThat(List.of(message, result, found, message.toBuilder(),
                new BatchSendException(List.of(), List.of(message), List.of(), new IllegalStateException("x"))))
            .noneMatch((held) -> held.toString().contains(SECRET));
        this.queue.cancel("waiting", "kept");
        EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());
        byte[] stored = codec.write(SECRET, Map.of("tries", SECRET));
        assertThat(List.of(codec.read(stored), codec.reader(String.class).read(stored)))
            .noneMatch((held) -> held.toString().contains(SECRET));
    }

    private void send(String name, Object payload) {
        this.queue.send(message(name, payload));
    }

    private static DelayedMessage message(String name, Object payload) {
        return DelayedMessage.builder(name, payload).header("tries", SECRET).build();
    }

    private static void quotesNothing(Runnable call, Class<?> type) {
        Throwable thrown = catchThrowable(call::run);
        assertThat(thrown).isInstanceOf(type);
        List<Throwable> all = new ArrayList<>(List.of(thrown));
        for (int i = 0; i < all.size(); i++) {
            assertThat(String.valueOf(all.get(i))).doesNotContain(SECRET);
            all.addAll(List.of(all.get(i).getSuppressed()));
            if (all.get(i).getCause() != null) {
                all.add(all.get(i).getCause());
            }
        }
    }

    /** All that is logged from {@link #begin} on, stacks included. */
    private static final class Log extends AppenderBase<ILoggingEvent> {

        private static final Set<String> NAMES = Set.of("io.delayqueue", "org.springframework.messaging");

        private final Map<String, Level> before = new HashMap<>();

        final ConcurrentLinkedQueue<String> lines = new ConcurrentLinkedQueue<>();

        /** To be repeated after the start of an application, which sets up its log. */
        void begin() {
            for (String name : NAMES) {
                Logger logger = (Logger) LoggerFactory.getLogger(name);
                if (!this.before.containsKey(name)) {
                    this.before.put(name, logger.getLevel());
                }
                logger.setLevel(Level.TRACE);
                logger.setAdditive(false);
                logger.addAppender(this);
            }
            start();
        }

        void end() {
            for (String name : NAMES) {
                Logger logger = (Logger) LoggerFactory.getLogger(name);
                logger.detachAppender(this);
                logger.setAdditive(true);
                logger.setLevel(this.before.get(name));
            }
        }

        @Override
        protected void append(ILoggingEvent event) {
            IThrowableProxy thrown = event.getThrowableProxy();
            this.lines.add(event.getLoggerName() + " " + event.getFormattedMessage()
                    + ((thrown != null) ? "\n" + ThrowableProxyUtil.asString(thrown) : ""));
        }

    }

    /** Cannot be written. */
    public static final class Broken {

        public String getName() {
            throw new IllegalStateException("The shop is closed");
        }

    }

    enum Colour {

        RED

    }

    record Number(int secret) {
    }

    record Paint(Colour secret) {
    }

    record Amount(@Size(max = 3) String secret, @Max(3) long amount) {
    }

    record Page(@Size(max = 3) String words) {
    }

    record Book(Map<String, @Valid Page> pages) {
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Config {

        @Bean
        Handlers handlers() {
            return new Handlers();
        }

    }

    static class Handlers {

        final ConcurrentLinkedQueue<String> ended = new ConcurrentLinkedQueue<>();

        final ConcurrentLinkedQueue<String> told = new ConcurrentLinkedQueue<>();

        @EventListener
        void died(DeadLetterEvent event) {
            this.told.add(event.toString());
            this.ended.add(event.queue());
        }

        @DelayedListener("good")
        void good(Map<String, String> payload, Delivery delivery, @Header("tries") String header, Message<?> message) {
            assertThat(payload).containsValue(header);
            assertThat(delivery + " " + message).doesNotContain(SECRET);
            this.ended.add("good");
        }

        @DelayedListener("failing")
        void failing(Map<String, String> payload) {
            throw new IllegalStateException("The shop is closed");
        }

        @DelayedListener("numbers")
        void number(Number payload) {
        }

        @DelayedListener("colours")
        void colour(Paint payload) {
        }

        @DelayedListener("maps")
        void map(Map<Integer, Integer> payload) {
        }

        @DelayedListener("unknown")
        void unknown(Map<String, Map<Instant, List<String>>> payload) {
        }

        @DelayedListener("headers")
        void header(@Header("tries") int tries) {
        }

        @DelayedListener("missing")
        void missing(Map<String, String> payload, @Header("absent") String absent) {
        }

        @DelayedListener("amounts")
        void amount(@Validated Amount payload) {
        }

        @DelayedListener("books")
        void book(@Validated Book payload) {
        }

        /** Fails, as a message may be claimed before it expires; its retry expires. */
        @DelayedListener("late")
        void late(@Nullable Object payload) {
            throw new IllegalStateException("The shop is closed");
        }

    }

}
