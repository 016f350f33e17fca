package io.delayqueue.shop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.admin.HistoryEntry;
import io.delayqueue.admin.HistoryEntry.Event;
import io.delayqueue.admin.MessageHistory;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

import static io.delayqueue.shop.Shop.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests the journal mode {@code audit}: it records the transitions of each message, and
 * leaves sends and handlers as they are.
 */
@Tag("server")
class HistoryTests {

    private static RedisServer redis;

    private ConfigurableApplicationContext context;

    private DelayQueueTemplate queue;

    private MessageHistory history;

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @AfterEach
    void stop() {
        if (this.context != null) {
            this.context.close();
        }
        redis.commands().flushall();
    }

    private void start(ShopDatabase database, String... settings) {
        List<String> arguments = new ArrayList<>(List.of("--spring.data.redis.port=" + redis.port(),
                "--spring.datasource.url=" + database.url(), "--delayqueue.journal.mode=audit",
                "--delayqueue.journal.jdbc.initialize-schema=always", "--delayqueue.command-timeout=2s",
                "--spring.main.banner-mode=off", "--spring.main.web-application-type=none"));
        arguments.addAll(List.of(settings));
        this.context = SpringApplication.run(Shop.class, arguments.toArray(String[]::new));
        this.queue = this.context.getBean(DelayQueueTemplate.class);
        this.history = this.context.getBean(MessageHistory.class);
    }

    private List<Event> events(String id) {
        return this.history.of(ORDERS, id).stream().map(HistoryEntry::event).toList();
    }

    @ParameterizedTest
    @EnumSource
    void aHandledMessageHasAHistory(ShopDatabase database) {
        start(database);

        this.queue.send(ORDERS, "42", "order", Duration.ZERO);

        await().untilAsserted(() -> assertThat(events("42")).containsExactly(Event.SENT, Event.CLAIMED, Event.HANDLED));
    }

}
