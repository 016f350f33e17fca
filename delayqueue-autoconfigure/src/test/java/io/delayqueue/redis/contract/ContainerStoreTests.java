package io.delayqueue.redis.contract;

import io.delayqueue.fixtures.redis.ConnectionFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.junit.jupiter.Container;
import org.testcontainers.junit.jupiter.Testcontainers;
import org.testcontainers.utility.DockerImageName;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Runs the contract on the newest Redis, if Docker is installed. */
@Testcontainers(disabledWithoutDocker = true)
@Tag("server")
@Tag("matrix")
class ContainerStoreTests extends RedisStoreContract {

    private static final int PORT = 6379;

    @Container
    private static final GenericContainer<?> server = new GenericContainer<>(DockerImageName.parse("redis:8"))
        .withExposedPorts(PORT);

    private static LettuceConnectionFactory connections;

    @BeforeAll
    static void connect() {
        connections = ConnectionFactories.started(new LettuceConnectionFactory(
                new RedisStandaloneConfiguration(server.getHost(), server.getMappedPort(PORT))));
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
    }

    @Override
    RedisConnectionFactory factory() {
        return connections;
    }

}
