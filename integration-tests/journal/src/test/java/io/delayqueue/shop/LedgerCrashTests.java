package io.delayqueue.shop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.fixtures.application.ChildJvm;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Kills processes that send to a ledger and handle its messages, each at one of the
 * points between the statements of the journal.
 */
@Tag("server")
@Tag("matrix")
@Timeout(value = 3, unit = TimeUnit.HOURS)
class LedgerCrashTests {

    /** Processes killed on each database; with all databases, each point is reached. */
    private static final int KILLS = Integer.getInteger("dq.journal.kills", 5);

    private static final Duration PATIENCE = Duration.ofMinutes(4);

    @TempDir
    private Path directory;

    /**
     * P1, P6: a message is handled if and only if its transaction was committed, none
     * that was cancelled or replaced is, and a crash repeats no message more than once.
     */
    @EachDatabase
    void whatWasCommittedIsHandledThoughEachProcessIsKilled(ShopDatabase database) throws Exception {
        String url = (database == ShopDatabase.H2) ? "jdbc:h2:file:%s/shop;WRITE_DELAY=0".formatted(this.directory)
                : database.url();
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred())) {
            start(redis, url, "delayqueue.journal.jdbc.initialize-schema=always", "spring.sql.init.mode=always")
                .close();
            kill(redis, url, database);
            try (ConfigurableApplicationContext context = start(redis, url)) {
                JdbcClient jdbc = context.getBean(JdbcClient.class);
                await().atMost(PATIENCE).untilAsserted(() -> assertThat(lost(jdbc)).isEmpty());
                await().atMost(PATIENCE).untilAsserted(() -> assertThat(rows(jdbc)).isZero());
                assertThat(unwanted(jdbc)).isEmpty();
                report(database, jdbc);
            }
        }
    }

    /** Two processes run at any time, except on H2, whose file belongs to one. */
    private void kill(RedisServer redis, String url, ShopDatabase database) throws Exception {
        Deque<ChildJvm> running = new ArrayDeque<>();
        try {
            for (int i = 0; i < KILLS; i++) {
                int point = (database.ordinal() * KILLS + i) % JournalPoint.values().length;
                running.add(child(redis, url, JournalPoint.values()[point]));
                if (database == ShopDatabase.H2 || running.size() > 1) {
                    killAtPoint(running.remove());
                }
            }
            if (!running.isEmpty()) {
                killAtPoint(running.remove());
            }
        }
        finally {
            running.forEach(ChildJvm::close);
        }
    }

    /**
     * Kills a process at its point, which it may reach before it is ready, or elsewhere
     * if it does not reach it in time.
     */
    private static void killAtPoint(ChildJvm child) throws Exception {
        try (child) {
            long end = System.nanoTime() + PATIENCE.toNanos();
            String line = child.poll();
            while ((line == null || !line.startsWith("HANDLING")) && System.nanoTime() - end < 0) {
                line = child.poll();
            }
            child.signal("KILL");
            child.awaitEnd();
        }
    }

    private ChildJvm child(RedisServer redis, String url, JournalPoint point) {
        int often = switch (point) {
            case BEFORE_INSERT, BEFORE_COMMIT, AFTER_COMMIT, BEFORE_READ, AFTER_READ -> 60;
            case BEFORE_REMOVAL, AFTER_REMOVAL, BEFORE_MARK, AFTER_MARK -> 30;
            case AFTER_CLAIM, BEFORE_ENDS, IN_ENDS, AFTER_ENDS -> 2;
        };
        return ChildJvm.start("192m", LedgerShop.class, properties(redis, url, "crash.point=" + point,
                "crash.after=" + ThreadLocalRandom.current().nextInt(often)));
    }

    private ConfigurableApplicationContext start(RedisServer redis, String url, String... others) {
        return SpringApplication.run(LedgerShop.class,
                Stream.of(properties(redis, url, others)).map((property) -> "--" + property).toArray(String[]::new));
    }

    private String[] properties(RedisServer redis, String url, String... others) {
        List<String> properties = new ArrayList<>(List.of("spring.data.redis.port=" + redis.port(),
                "spring.datasource.url=" + url,
                "spring.autoconfigure.exclude=org.springframework.boot.hibernate.autoconfigure."
                        + "HibernateJpaAutoConfiguration",
                "spring.data.jpa.repositories.enabled=false",
                "spring.sql.init.schema-locations=classpath:io/delayqueue/shop/shop-order.sql",
                "delayqueue.journal.mode=ledger", "delayqueue.command-timeout=2s", "delayqueue.listener.lease=5s",
                "spring.main.web-application-type=none", "crash.handled=" + this.directory.resolve("handled")));
        properties.addAll(List.of(others));
        return properties.toArray(String[]::new);
    }

    /**
     * Returns the committed orders that were not handled. A successor that was sent while
     * a lapsed lease was not claimed again is kept out, and its predecessor is handled
     * once more.
     */
    private List<String> lost(JdbcClient jdbc) throws IOException {
        Map<String, Long> counts = handled().stream()
            .collect(Collectors.groupingBy(Handling::message, Collectors.counting()));
        return orders(jdbc).entrySet()
            .stream()
            .filter((order) -> !order.getValue().equals("CANCELLED"))
            .filter((order) -> !counts.containsKey(order.getKey() + " " + order.getValue()))
            .filter((order) -> !order.getValue().equals("chained")
                    || counts.getOrDefault(order.getKey() + " chain", 0L) < 2)
            .map(Map.Entry::toString)
            .toList();
    }

    /** Returns handlings of messages that were rolled back, cancelled or replaced. */
    private List<String> unwanted(JdbcClient jdbc) throws IOException {
        Map<String, String> orders = orders(jdbc);
        Set<String> expected = new HashSet<>();
        orders.forEach((id, content) -> {
            expected.add(id + " " + content);
            if (content.equals("chained")) {
                expected.add(id + " chain");
            }
        });
        return handled().stream().map(Handling::message).filter((message) -> !expected.contains(message)).toList();
    }

    private void report(ShopDatabase database, JdbcClient jdbc) throws IOException {
        List<Handling> handled = handled();
        Map<String, Map<Long, Long>> byProcess = new HashMap<>();
        handled.forEach((each) -> byProcess.computeIfAbsent(each.message(), (message) -> new HashMap<>())
            .merge(each.process(), 1L, Long::sum));
        // The process in which a message was at hand at a crash handles it no more.
        assertThat(byProcess).allSatisfy((message, counts) -> assertThat(counts.values()).containsOnly(1L));
        Map<String, Long> extra = new TreeMap<>();
        byProcess.forEach((message, counts) -> {
            if (counts.size() > 1) {
                extra.merge(message.substring(message.indexOf(' ') + 1), counts.size() - 1L, Long::sum);
            }
        });
        System.out.printf("LedgerCrashTests: %s, %d kills, %d orders, %d cancelled, %d handlings, extra %s, 0 lost%n",
                database, KILLS, orders(jdbc).size(),
                orders(jdbc).values().stream().filter("CANCELLED"::equals).count(), handled.size(), extra);
    }

    private static Map<String, String> orders(JdbcClient jdbc) {
        return jdbc.sql("SELECT id, content FROM shop_order")
            .query((row, number) -> Map.entry(row.getString(1), row.getString(2)))
            .list()
            .stream()
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    private static long rows(JdbcClient jdbc) {
        return jdbc.sql("SELECT COUNT(*) FROM delayqueue_journal WHERE operation <> 'C' OR accepted = FALSE")
            .query(Long.class)
            .single();
    }

    private List<Handling> handled() throws IOException {
        try (Stream<String> lines = Files.lines(this.directory.resolve("handled"))) {
            return lines.map((line) -> line.split(" "))
                .map((words) -> new Handling(words[0] + " " + words[1], Long.parseLong(words[2])))
                .toList();
        }
    }

    /**
     * Holds a line of the file.
     *
     * @param message its id and content
     * @param process the process that handled it
     */
    private record Handling(String message, long process) {
    }

}
