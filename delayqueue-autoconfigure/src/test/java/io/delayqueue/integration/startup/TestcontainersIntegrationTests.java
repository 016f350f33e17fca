package io.delayqueue.integration.startup;

import java.time.Duration;

import io.delayqueue.SendResult;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.junit.jupiter.Testcontainers;
import org.testcontainers.utility.DockerImageName;

import static org.assertj.core.api.Assertions.assertThat;

/** P2, P3 and P10 on servers that no jar brings; skipped where Docker is not. */
@Testcontainers(disabledWithoutDocker = true)
@Tag("server")
@Tag("matrix")
class TestcontainersIntegrationTests {

    private static final int PORT = 6379;

    @RegisterExtension
    final Applications applications = new Applications();

    @ParameterizedTest
    @ValueSource(strings = { "redis:7.4-alpine", "redis:8-alpine", "valkey/valkey:8-alpine" })
    void aMessageIsHandledWhenItIsDue(String image) throws Exception {
        try (GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(image))
            .withExposedPorts(PORT)) {
            container.start();
            Application application = this.applications.start(Applications.HandlerConfiguration.class,
                    "spring.data.redis.host=" + container.getHost(),
                    "spring.data.redis.port=" + container.getMappedPort(PORT));
            SendResult sent = application.queue().send("orders", new Order(1), Duration.ofMillis(300));

            assertThat(application.handler().next().assertNotBefore(sent.dueAt()).number()).isEqualTo(1);
            Applications.await(() -> assertThat(
                    container.execInContainer("sh", "-c", "redis-cli dbsize || valkey-cli dbsize").getStdout())
                .contains("0"));
            this.applications.close();
        }
    }

}
