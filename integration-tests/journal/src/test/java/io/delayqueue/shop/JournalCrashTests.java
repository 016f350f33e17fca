package io.delayqueue.shop;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.delayqueue.fixtures.application.ChildJvm;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Kills processes that send in transactions. P1: each committed order is handled, no
 * rolled back one is, and a committed cancel takes effect. A crash repeats at most the
 * orders of one batch, which Redis had accepted and whose rows were not deleted yet.
 */
@Tag("server")
@Tag("matrix")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class JournalCrashTests {

    private static final int KILLS = Integer.getInteger("dq.journal.kills", 3);

    /**
     * Rows of one batch of the relay, which a crash after Redis' answer leaves behind.
     */
    private static final int BATCH = 100;

    @ParameterizedTest
    @ValueSource(strings = { "outbox", "ledger" })
    void whatWasCommittedIsHandledThoughItsProcessIsKilled(String mode) throws Exception {
        String url = ShopDatabase.POSTGRESQL.url();
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred());
                ConfigurableApplicationContext context = SpringApplication.run(Shop.class,
                        arguments(redis, url, mode))) {
            JdbcClient jdbc = context.getBean(JdbcClient.class);
            jdbc.sql(OrderClerk.TABLE).update();
            for (int i = 0; i < KILLS; i++) {
                try (ChildJvm clerk = ChildJvm.start("192m", OrderClerk.class,
                        properties(redis, url, mode, "delayqueue.listener.auto-startup=false"))) {
                    clerk.next();
                    long placed = orders(jdbc, "PLACED").size() + 1;
                    await().until(() -> orders(jdbc, "PLACED").size() >= placed);
                    long end = System.nanoTime() + ThreadLocalRandom.current().nextLong(500_000_000);
                    await().pollDelay(Duration.ZERO).until(() -> System.nanoTime() - end > 0);
                }
            }
            Shop shop = context.getBean(Shop.class);

            await().atMost(Duration.ofMinutes(2)).untilAsserted(() -> assertThat(waitingRows(jdbc)).isZero());
            Set<String> placed = new HashSet<>(orders(jdbc, "PLACED"));
            await().atMost(Duration.ofMinutes(2))
                .untilAsserted(() -> assertThat(new HashSet<>(shop.handled)).containsAll(placed));

            assertThat(new HashSet<>(shop.handled)).isEqualTo(placed);
            DelayQueueTemplate queue = context.getBean(DelayQueueTemplate.class);
            assertThat(orders(jdbc, "CANCELLED")).isNotEmpty()
                .allSatisfy((id) -> assertThat(queue.find(Shop.ORDERS, id)).isEmpty());
            assertThat(orders(jdbc, "HELD")).allSatisfy((id) -> assertThat(queue.find(Shop.ORDERS, id)).isPresent());
            assertThat(shop.handled.size() - placed.size()).as("handled twice").isLessThanOrEqualTo(KILLS * BATCH);
        }
    }

    /**
     * Counts the rows of requests that Redis has not applied, and of messages that are
     * due.
     */
    private static long waitingRows(JdbcClient jdbc) {
        return jdbc.sql("""
                SELECT COUNT(*) FROM delayqueue_journal j WHERE accepted = FALSE OR operation = 'S'
                  AND message_id IN (SELECT id FROM shop_order WHERE state <> 'HELD')""").query(Long.class).single();
    }

    private static List<String> orders(JdbcClient jdbc, String state) {
        return jdbc.sql("SELECT id FROM shop_order WHERE state = ?").param(state).query(String.class).list();
    }

    private static String[] arguments(RedisServer redis, String url, String mode) {
        return List.of(properties(redis, url, mode, "spring.main.banner-mode=off"))
            .stream()
            .map((property) -> "--" + property)
            .toArray(String[]::new);
    }

    private static String[] properties(RedisServer redis, String url, String mode, String another) {
        return new String[] { "spring.data.redis.port=" + redis.port(), "spring.datasource.url=" + url,
                "spring.jpa.open-in-view=false", "delayqueue.journal.mode=" + mode,
                "delayqueue.journal.jdbc.initialize-schema=always", "delayqueue.command-timeout=10s",
                "spring.main.web-application-type=none", another };
    }

}
