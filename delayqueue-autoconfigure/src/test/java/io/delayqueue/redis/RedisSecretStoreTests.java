package io.delayqueue.redis;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.delayqueue.StoreRefusedException;
import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.store.SecretStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests that the secret of a namespace is generated once and stored in Redis. */
@Tag("server")
class RedisSecretStoreTests {

    private static final String KEY = "secrets:{_directory}:secret";

    private final RedisServer server = RedisServer.shared(RedisBinary.REDIS_7_0);

    private final LettuceConnectionFactory connections = ConnectionFactories.lettuce(this.server);

    private final RedisScriptExecutor redis = RedisScriptExecutor.to(this.connections, "secrets",
            Duration.ofSeconds(30));

    private final SecretStore store = new RedisSecretStore(this.redis);

    @BeforeEach
    @AfterEach
    void clear() {
        this.server.commands().del(KEY);
    }

    @AfterEach
    void close() {
        this.redis.close();
        this.connections.destroy();
    }

    private static byte[] candidate() {
        byte[] candidate = new byte[SecretStore.SECRET_BYTES];
        new SecureRandom().nextBytes(candidate);
        return candidate;
    }

    @Test
    void allNodesThatFindNoSecretGetTheSameOne() {
        List<byte[]> read = IntStream.range(0, 50)
            .mapToObj((i) -> this.store.getOrCreate(candidate()))
            .toList()
            .stream()
            .map(CompletableFuture::join)
            .toList();

        assertThat(read).hasSize(50).allSatisfy((secret) -> assertThat(secret).isEqualTo(read.get(0)));
        assertThat(this.store.getOrCreate(candidate()).join()).isEqualTo(read.get(0));
    }

    @Test
    void aDeletedSecretIsReplaced() {
        byte[] first = this.store.getOrCreate(candidate()).join();
        this.server.commands().del(KEY);
        byte[] candidate = candidate();

        assertThat(this.store.getOrCreate(candidate).join()).isEqualTo(candidate).isNotEqualTo(first);
    }

    @Test
    void aSecretThatIsTooShortIsRejected() {
        this.server.commands().set(KEY, "guessed");

        assertThatThrownBy(this.store.getOrCreate(candidate())::join).cause()
            .isInstanceOf(StoreRefusedException.class)
            .hasMessageContaining("has 7 bytes, and needs 32: delete the key '" + KEY + "'");
    }

    @Test
    void aFullRedisStoresTheSecret() {
        try (RedisServer full = RedisServer.start(RedisBinary.preferred())) {
            full.commands().configSet("maxmemory", "1");
            LettuceConnectionFactory connections = ConnectionFactories.lettuce(full);
            try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, "secrets", Duration.ofSeconds(30))) {
                byte[] candidate = candidate();
                assertThat(new RedisSecretStore(redis).getOrCreate(candidate).join()).isEqualTo(candidate);
            }
            finally {
                connections.destroy();
            }
        }
    }

}
