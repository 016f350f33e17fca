package io.delayqueue.test.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/** Verifies that an embedded Redis is used only if nothing names a server. */
class EmbeddedRedisAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
        .withConfiguration(AutoConfigurations.of(EmbeddedRedisAutoConfiguration.class))
        .withPropertyValues("delayqueue.test.store=redis", "delayqueue.test.redis-binary=/none");

    @ParameterizedTest
    @ValueSource(strings = { "host=localhost", "url=redis://localhost", "cluster.nodes[0]=localhost:7000",
            "sentinel.nodes=localhost:26379" })
    void propertyNamesAServer(String property) {
        this.runner.withPropertyValues("spring.data.redis." + property)
            .run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(DataRedisConnectionDetails.class));
    }

    /** As Testcontainers do with {@code @ServiceConnection}. */
    @Test
    void beanNamesAServer() {
        DataRedisConnectionDetails details = mock(DataRedisConnectionDetails.class);

        this.runner.withBean(DataRedisConnectionDetails.class, () -> details)
            .run((context) -> assertThat(context).getBean(DataRedisConnectionDetails.class).isSameAs(details));
    }

    @Test
    void storeInMemoryNeedsNoServer() {
        this.runner.withPropertyValues("delayqueue.test.store=memory")
            .run((context) -> assertThat(context).doesNotHaveBean(DataRedisConnectionDetails.class));
    }

    @Test
    void serverIsStartedOtherwise() {
        this.runner.run((context) -> assertThat(context).getFailure().hasStackTraceContaining("/none"));
    }

}
