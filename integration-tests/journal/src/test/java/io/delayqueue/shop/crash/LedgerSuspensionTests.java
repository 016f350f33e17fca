package io.delayqueue.shop.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.fixtures.application.ChildJvm;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopDatabase;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Suspends processes that send to a ledger, each at one of the points between a read of
 * the journal and the call that follows. Another process handles all messages meanwhile.
 */
@Tag("server")
@Tag("faults")
@Timeout(value = 1, unit = TimeUnit.HOURS)
class LedgerSuspensionTests {

    /** The points, each with how often it is passed before. */
    private static final Map<JournalPoint, Integer> POINTS = Map.of(JournalPoint.BEFORE_READ, 30,
            JournalPoint.AFTER_READ, 30, JournalPoint.BEFORE_REMOVAL, 20, JournalPoint.BEFORE_MARK, 20,
            JournalPoint.AFTER_CLAIM, 0, JournalPoint.BEFORE_ENDS, 1);

    private static final Duration PATIENCE = Duration.ofMinutes(4);

    /** Longer than all claims and the memory of Redis together. */
    private static final Duration SUSPENSION = Duration.ofSeconds(90);

    @TempDir
    private Path directory;

    /**
     * P1, P6: a process that is suspended until others have handled its messages, and
     * until Redis has forgotten them, loses and repeats nothing when it continues.
     */
    @EachDatabase
    void aProcessThatContinuesLateRepeatsNothing(ShopDatabase database) throws Exception {
        String url = (database == ShopDatabase.H2) ? "jdbc:h2:file:%s/shop;AUTO_SERVER=TRUE".formatted(this.directory)
                : database.url();
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred());
                ConfigurableApplicationContext context = start(redis, url)) {
            JdbcClient jdbc = context.getBean(JdbcClient.class);
            for (JournalPoint point : points()) {
                suspend(redis, url, point, context);
                assertThat(handled()).as("handled after a suspension at " + point).doesNotHaveDuplicates();
                assertThat(unwanted(jdbc)).as("handled after a suspension at " + point).isEmpty();
            }
        }
    }

    private static List<JournalPoint> points() {
        String point = System.getProperty("dq.journal.point");
        return (point != null) ? List.of(JournalPoint.valueOf(point)) : List.copyOf(POINTS.keySet());
    }

    private void suspend(RedisServer redis, String url, JournalPoint point, ConfigurableApplicationContext context)
            throws Exception {
        JdbcClient jdbc = context.getBean(JdbcClient.class);
        SmartLifecycle relay = context.getBean("delayQueueJournalRelay", SmartLifecycle.class);
        try (ChildJvm child = child(redis, url, point, POINTS.get(point))) {
            if (point == JournalPoint.AFTER_CLAIM) {
                relay.stop();
                context.getBean(LedgerShop.class).placeNow("left");
                jdbc.sql("UPDATE delayqueue_journal SET claimed_until = 1 WHERE message_id = 'left'").update();
            }
            awaitLine(child, "HANDLING");
            child.signal("STOP");
            relay.start();
            boolean idle = waits(() -> waiting(jdbc) == 0 && redis.commands().zcard("dq:{ledger}:changes") == 0);
            int before = handled().size();
            child.signal("CONT");
            child.goOn();
            awaitLine(child, "READY resumed");
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(handled()).hasSizeGreaterThan(before + 20));
            child.goOn();
            awaitLine(child, "READY ended");
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(lost(jdbc)).isEmpty());
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(rows(jdbc)).isZero());
            System.out.printf("LedgerSuspensionTests: %s, others idle: %s, %d handlings%n", point, idle,
                    handled().size());
        }
    }

    private ChildJvm child(RedisServer redis, String url, JournalPoint point, int after) {
        return ChildJvm.start("192m", LedgerShop.class, properties(redis, url, "crash.point=" + point,
                "crash.after=" + after, "delayqueue.listener.auto-startup=false"));
    }

    private static void awaitLine(ChildJvm child, String prefix) {
        await().atMost(PATIENCE)
            .alias("a line " + prefix)
            .until(child::poll, (line) -> line != null && line.startsWith(prefix));
    }

    /**
     * Returns whether a condition became true. A process that is suspended in a
     * transaction may hold locks that others wait for.
     */
    private static boolean waits(BooleanSupplier condition) {
        try {
            await().atMost(SUSPENSION).until(condition::getAsBoolean);
            return true;
        }
        catch (ConditionTimeoutException ex) {
            return false;
        }
    }

    private ConfigurableApplicationContext start(RedisServer redis, String url) {
        String[] properties = properties(redis, url, "delayqueue.journal.jdbc.initialize-schema=always",
                "spring.sql.init.mode=always",
                "spring.sql.init.schema-locations=classpath:io/delayqueue/shop/shop-order.sql");
        return SpringApplication.run(LedgerShop.class,
                Stream.of(properties).map((property) -> "--" + property).toArray(String[]::new));
    }

    private String[] properties(RedisServer redis, String url, String... others) {
        List<String> properties = new ArrayList<>(List.of("spring.data.redis.port=" + redis.port(),
                "spring.datasource.url=" + url,
                "spring.autoconfigure.exclude=org.springframework.boot.hibernate.autoconfigure."
                        + "HibernateJpaAutoConfiguration",
                "spring.data.jpa.repositories.enabled=false", "delayqueue.journal.mode=ledger",
                "delayqueue.command-timeout=2s", "delayqueue.listener.lease=5m",
                "spring.main.web-application-type=none", "crash.handled=" + this.directory.resolve("handled")));
        properties.addAll(List.of(others));
        return properties.toArray(String[]::new);
    }

    /** Returns the committed orders that were not handled. */
    private List<String> lost(JdbcClient jdbc) throws IOException {
        Set<String> handled = new HashSet<>(handled());
        return orders(jdbc).entrySet()
            .stream()
            .filter((order) -> !order.getValue().equals("CANCELLED"))
            .map((order) -> order.getKey() + " " + order.getValue())
            .filter((order) -> !handled.contains(order))
            .toList();
    }

    /** Returns handlings of messages that were rolled back, cancelled or replaced. */
    private List<String> unwanted(JdbcClient jdbc) throws IOException {
        Set<String> expected = new HashSet<>();
        orders(jdbc).forEach((id, content) -> {
            expected.add(id + " " + content);
            if (content.equals("chained")) {
                expected.add(id + " chain");
            }
        });
        return handled().stream().filter((message) -> !expected.contains(message)).toList();
    }

    private static Map<String, String> orders(JdbcClient jdbc) {
        return jdbc.sql("SELECT id, content FROM shop_order")
            .query((row, number) -> Map.entry(row.getString(1), row.getString(2)))
            .list()
            .stream()
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /** Returns the number of rows of requests that Redis has not applied. */
    private static long waiting(JdbcClient jdbc) {
        return jdbc.sql("SELECT COUNT(*) FROM delayqueue_journal WHERE accepted = FALSE").query(Long.class).single();
    }

    private static long rows(JdbcClient jdbc) {
        return jdbc.sql("SELECT COUNT(*) FROM delayqueue_journal WHERE operation <> 'C' OR accepted = FALSE")
            .query(Long.class)
            .single();
    }

    /** Returns the messages that were handled, each as often as that happened. */
    private List<String> handled() throws IOException {
        Path file = this.directory.resolve("handled");
        if (!Files.exists(file)) {
            return List.of();
        }
        try (Stream<String> lines = Files.lines(file)) {
            return lines.map((line) -> line.substring(0, line.lastIndexOf(' '))).toList();
        }
    }

}
