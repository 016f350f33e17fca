package io.delayqueue.sample.embedded;

import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/** Points the application to an embedded Redis if no other is configured. */
@Configuration(proxyBeanMethods = false)
@Conditional(NoRedisConfigured.class)
class EmbeddedRedisConfiguration {

    @Bean
    EmbeddedRedis embeddedRedis() {
        return EmbeddedRedis.start();
    }

    @Bean
    DataRedisConnectionDetails embeddedRedisConnectionDetails(EmbeddedRedis redis) {
        return new DataRedisConnectionDetails() {

            @Override
            public Standalone getStandalone() {
                return Standalone.of("127.0.0.1", redis.port());
            }

        };
    }

}
