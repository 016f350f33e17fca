package io.delayqueue.clinic;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cache.CacheManager;
import org.springframework.cache.caffeine.CaffeineCacheManager;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks the effects of the starter on an application that has a cache and repositories.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class CacheAndJpaTests {

    private static final String MOVED = "Boot keeps the application's cache in Redis";

    private static ClinicRedis redis;

    @BeforeAll
    static void startRedis() {
        redis = new ClinicRedis();
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @Test
    void aCacheThatBootMovesToRedisIsLogged(CapturedOutput output) {
        try (ConfigurableApplicationContext context = start(Clinic.class, redis.port())) {
            assertThat(context.getBean(CacheManager.class)).isInstanceOf(RedisCacheManager.class);
            assertThat(output.getOut().lines().filter((line) -> line.contains(MOVED))).singleElement()
                .asString()
                .contains("WARN", "as there is a connection factory for Redis, although Caffeine is on the class path",
                        "spring.cache.type=caffeine", "spring.cache.type=redis");
        }
    }

    @Test
    void theCacheStaysWhereItsTypeIsSet(CapturedOutput output) {
        try (ConfigurableApplicationContext context = start(Clinic.class, ClinicRedis.freePort(),
                "--spring.cache.type=caffeine")) {
            assertThat(context.getBean(CacheManager.class)).isInstanceOf(CaffeineCacheManager.class);
            // There is no Redis.
            assertThat(context.getBean(Vets.class).findByName("nobody")).isEmpty();
            assertThat(output).doesNotContain(MOVED);
        }
    }

    @Test
    void aCacheThatIsWantedInRedisIsNotLogged(CapturedOutput output) {
        start(Clinic.class, redis.port(), "--spring.cache.type=redis").close();

        assertThat(output).doesNotContain(MOVED);
    }

    @Test
    void aCacheManagerOfTheApplicationIsNotLogged(CapturedOutput output) {
        start(OwnCacheManager.class, redis.port()).close();

        assertThat(output).doesNotContain(MOVED);
    }

    @Test
    void repositoriesThatNameNoModuleAreStillFoundAndNotClaimedByRedis(CapturedOutput output) {
        try (ConfigurableApplicationContext context = start(Clinic.class, redis.port(), "--spring.cache.type=caffeine",
                "--spring.data.redis.repositories.enabled=false")) {
            assertThat(context.getBean(Vets.class).count()).isZero();
            assertThat(output).doesNotContain("Spring Data Redis repositories");
        }
    }

    @Test
    void aMessageOfATransactionIsHandledInAnotherOne() {
        try (ConfigurableApplicationContext context = start(Clinic.class, redis.port(), "--spring.cache.type=caffeine",
                "--spring.data.redis.repositories.enabled=false")) {
            Vets vets = context.getBean(Vets.class);
            assertThat(vets.findByName("Dr. Helen")).isEmpty();

            context.getBean(Clinic.VetService.class).hire("Helen");

            // Read past the cache: a read between the eviction and the commit would cache
            // the empty list again.
            Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertThat(vets.countByName("Dr. Helen")).isOne());
        }
    }

    private static ConfigurableApplicationContext start(Class<?> application, int redisPort, String... properties) {
        List<String> arguments = new ArrayList<>(List.of("--spring.data.redis.port=" + redisPort,
                "--spring.jpa.hibernate.ddl-auto=create-drop", "--spring.main.banner-mode=off",
                "--spring.main.web-application-type=none", "--delayqueue.namespace=clinic"));
        arguments.addAll(List.of(properties));
        return new SpringApplication(application).run(arguments.toArray(String[]::new));
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnCacheManager extends Clinic {

        @Bean
        RedisCacheManager cacheManager(RedisConnectionFactory connections) {
            return RedisCacheManager.create(connections);
        }

    }

}
