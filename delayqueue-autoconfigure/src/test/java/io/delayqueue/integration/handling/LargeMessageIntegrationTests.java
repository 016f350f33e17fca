package io.delayqueue.integration.handling;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.Delivery;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P3: a claim returns fewer large messages than there are permits, and the next claim is
 * sent at once, without waiting for the safety poll.
 */
@Tag("server")
class LargeMessageIntegrationTests {

    private static final int MESSAGES = 60;

    @RegisterExtension
    final Applications applications = new Applications().examined();

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @Test
    void aListenerDrainsThem() {
        DelayQueueOperations sender = this.applications.withoutHandler(this.redis).queue();
        assertThat(sender.sendAll(messages())).hasSize(MESSAGES);

        Application worker = this.applications.start(Config.class,
                Applications.at(this.redis.port(), Applications.NO_SAFETY_POLL, "delayqueue.listener.concurrency=100"));

        Applications.await(() -> assertThat(worker.context().getBean(Handler.class).handled).hasSize(MESSAGES));
        this.applications.assertNoKeysLeft(this.redis);
    }

    @Test
    void areReceivedOneByOne() {
        DelayQueueOperations queue = this.applications.withoutHandler(this.redis).queue();
        queue.sendAll(messages());

        for (int i = 0; i < MESSAGES; i++) {
            assertThat(queue.receive("large", Applications.TIMEOUT).orElseThrow().acknowledge()).isTrue();
        }

        this.applications.assertNoKeysLeft(this.redis);
    }

    private static List<DelayedMessage> messages() {
        return IntStream.range(0, MESSAGES)
            .mapToObj((i) -> DelayedMessage.builder("large", new Large("x".repeat(200_000)))
                .id("m" + i)
                .delay(Duration.ZERO)
                .build())
            .toList();
    }

    record Large(String content) {
    }

    static class Handler {

        private final Set<String> handled = ConcurrentHashMap.newKeySet();

        @DelayedListener("large")
        void handle(Large message, Delivery delivery) {
            assertThat(message.content()).hasSize(200_000);
            this.handled.add(delivery.id());
        }

    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Config {

        @Bean
        Handler handler() {
            return new Handler();
        }

    }

}
