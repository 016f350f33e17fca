package io.delayqueue.test.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;

import io.delayqueue.fixtures.redis.RedisBinary;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.support.StaticApplicationContext;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Verifies that a namespace in Redis belongs to one tester. */
@Tag("server")
class RedisTestNamespaceTests {

    private final LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1",
            EmbeddedRedis.shared(RedisBinary.REDIS_7_0.path()).port());

    @BeforeEach
    void start() {
        this.connections.start();
    }

    @AfterEach
    void stop() {
        this.connections.destroy();
    }

    @Test
    void secondTesterOfANamespaceIsRejectedUntilTheFirstIsStopped() {
        RedisTestNamespace first = namespace("second-tester", false);
        RedisTestNamespace second = namespace("second-tester", false);
        first.clear();

        assertThatIllegalStateException().isThrownBy(second::clear)
            .withMessageStartingWith("Another DelayQueueTester uses the namespace 'second-tester' of this Redis");
        first.clear();

        first.stop();
        second.clear();
        assertThatIllegalStateException().isThrownBy(first::clear);
        second.stop();
    }

    @Test
    void onlyTheNamespaceIsEmptied() {
        try (RedisConnection connection = this.connections.getConnection()) {
            set("emptied:{orders}:messages");
            set("emptied-not:{orders}:messages");
            RedisTestNamespace namespace = namespace("emptied", false);

            namespace.clear();

            assertThat(connection.keyCommands().exists(bytes("emptied:{orders}:messages"))).isFalse();
            assertThat(connection.keyCommands().exists(bytes("emptied-not:{orders}:messages"))).isTrue();
            namespace.stop();
        }
    }

    @Test
    void closedContextReleasesItsNamespace() {
        try (AnnotationConfigApplicationContext context = context("released", false)) {
            context.getBean(RedisTestNamespace.class).clear();
            set("released:{orders}:partitions");
        }

        assertThat(keys("released:*")).containsExactly("released:{orders}:partitions");
    }

    @Test
    void closedContextRemovesTheNamespaceThatItHasGenerated() {
        try (AnnotationConfigApplicationContext context = context("generated", true)) {
            context.getBean(RedisTestNamespace.class).clear();
            set("generated:{orders}:partitions");
            context.publishEvent(new ContextClosedEvent(new StaticApplicationContext()));
            context.stop();
            assertThat(keys("generated:*")).as("the end of a child, and a pause")
                .containsExactly("generated:{orders}:partitions");
            context.start();
            context.getBean(RedisTestNamespace.class).clear();
        }

        assertThat(keys("generated:*")).isEmpty();
    }

    /** Creates a context that closes its connections too, as an application does. */
    private AnnotationConfigApplicationContext context(String name, boolean generated) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        // Not a dependency that Spring knows of, so that the phases alone decide the
        // order.
        LettuceConnectionFactory closed = new LettuceConnectionFactory("127.0.0.1", this.connections.getPort());
        context.registerBean(LettuceConnectionFactory.class, () -> closed);
        context.registerBean(RedisTestNamespace.class,
                () -> new RedisTestNamespace(context, closed, name, generated, Duration.ofSeconds(30)));
        context.refresh();
        return context;
    }

    private RedisTestNamespace namespace(String name, boolean generated) {
        return new RedisTestNamespace(new StaticApplicationContext(), this.connections, name, generated,
                Duration.ofSeconds(30));
    }

    private void set(String key) {
        try (RedisConnection connection = this.connections.getConnection()) {
            connection.stringCommands().set(bytes(key), bytes("1"));
        }
    }

    private Set<String> keys(String pattern) {
        try (RedisConnection connection = this.connections.getConnection()) {
            return connection.keyCommands()
                .keys(bytes(pattern))
                .stream()
                .map((key) -> new String(key, StandardCharsets.UTF_8))
                .collect(Collectors.toSet());
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

}
