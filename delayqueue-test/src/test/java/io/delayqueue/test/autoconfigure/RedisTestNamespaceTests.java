package io.delayqueue.test.autoconfigure;

import java.nio.charset.StandardCharsets;

import io.delayqueue.fixtures.redis.RedisBinary;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

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
    void secondTesterOfANamespaceIsRejectedUntilTheFirstIsClosed() {
        RedisTestNamespace first = new RedisTestNamespace(this.connections, "second-tester");
        RedisTestNamespace second = new RedisTestNamespace(this.connections, "second-tester");
        first.clear();

        assertThatIllegalStateException().isThrownBy(second::clear)
            .withMessageStartingWith("Another DelayQueueTester uses the namespace 'second-tester' of this Redis");
        first.clear();

        first.close();
        second.clear();
        assertThatIllegalStateException().isThrownBy(first::clear);
        second.close();
    }

    @Test
    void onlyTheNamespaceIsEmptied() {
        try (RedisConnection connection = this.connections.getConnection()) {
            connection.stringCommands()
                .set("emptied:{orders}:messages".getBytes(StandardCharsets.UTF_8),
                        "1".getBytes(StandardCharsets.UTF_8));
            connection.stringCommands()
                .set("emptied-not:{orders}:messages".getBytes(StandardCharsets.UTF_8),
                        "1".getBytes(StandardCharsets.UTF_8));
            RedisTestNamespace namespace = new RedisTestNamespace(this.connections, "emptied");

            namespace.clear();

            assertThat(connection.keyCommands().exists("emptied:{orders}:messages".getBytes(StandardCharsets.UTF_8)))
                .isFalse();
            assertThat(
                    connection.keyCommands().exists("emptied-not:{orders}:messages".getBytes(StandardCharsets.UTF_8)))
                .isTrue();
            namespace.close();
        }
    }

}
