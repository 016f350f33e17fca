package io.delayqueue.sample.embedded;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/** Checks when the application starts a Redis, and the message if it cannot. */
@Tag("server")
class EmbeddedRedisTests {

    private final ApplicationContextRunner contexts = new ApplicationContextRunner()
        .withUserConfiguration(EmbeddedRedisConfiguration.class);

    @ParameterizedTest
    @ValueSource(strings = { "url=redis://example.org", "host=example.org", "port=6379",
            "cluster.nodes=example.org:6379", "cluster.nodes[0]=example.org:6379", "sentinel.nodes=example.org:26379",
            "masterreplica.nodes=example.org:6379" })
    void nothingIsStartedWhereARedisIsConfigured(String property) {
        this.contexts.withPropertyValues("spring.data.redis." + property)
            .run((context) -> assertThat(context).doesNotHaveBean(EmbeddedRedis.class));
    }

    @Test
    void failureNamesTheWayToUseAnotherRedis() {
        FailureAnalysis analysis = new EmbeddedRedisFailureAnalyzer()
            .analyze(new IllegalStateException(new EmbeddedRedisException("There is none", null)));

        assertThat(analysis).isNotNull();
        assertThat(analysis.getDescription()).isEqualTo("There is none");
        assertThat(analysis.getAction()).contains("--spring.data.redis.host=", "SPRING_DATA_REDIS_HOST=");
    }

}
