package io.delayqueue.test.autoconfigure;

import java.util.stream.Stream;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Auto-configuration of an embedded Redis for tests with {@link TestStoreType#REDIS}, if
 * neither a property nor Testcontainers name a server.
 */
@AutoConfiguration(before = DataRedisAutoConfiguration.class,
        afterName = "org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration")
@ConditionalOnProperty(name = DelayQueueTesterProperties.STORE, havingValue = "redis")
@Conditional(EmbeddedRedisAutoConfiguration.NoServerNamed.class)
@EnableConfigurationProperties(DelayQueueTesterProperties.class)
public final class EmbeddedRedisAutoConfiguration {

    EmbeddedRedisAutoConfiguration() {
    }

    @Bean
    @ConditionalOnMissingBean({ DataRedisConnectionDetails.class, RedisConnectionFactory.class })
    DataRedisConnectionDetails delayQueueEmbeddedRedisConnectionDetails(DelayQueueTesterProperties properties) {
        EmbeddedRedis redis = EmbeddedRedis.shared(properties.redisBinary());
        return new DataRedisConnectionDetails() {

            @Override
            public Standalone getStandalone() {
                return Standalone.of("127.0.0.1", redis.port());
            }

        };
    }

    /** Matches if no property says where a Redis is. */
    static final class NoServerNamed extends SpringBootCondition {

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            Binder binder = Binder.get(context.getEnvironment());
            ConditionMessage.Builder message = ConditionMessage.forCondition("No Redis named by spring.data.redis");
            return Stream.of("url", "host", "port", "cluster.nodes", "sentinel.nodes", "masterreplica.nodes")
                .filter((name) -> binder.bind("spring.data.redis." + name, Bindable.listOf(String.class)).isBound())
                .findFirst()
                .map((name) -> ConditionOutcome.noMatch(message.because("spring.data.redis." + name + " is set")))
                .orElseGet(() -> ConditionOutcome.match(message.because("no property is set")));
        }

    }

}
