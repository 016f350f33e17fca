package io.delayqueue.shop.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopDatabase;
import io.delayqueue.shop.crash.LedgerProcesses.Kill;
import io.delayqueue.store.MessageStore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

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

    private static final Duration PATIENCE = LedgerProcesses.PATIENCE;

    @TempDir
    private Path directory;

    /**
     * P1, P6: a message is handled if and only if its transaction was committed, none
     * that was cancelled or replaced is, and a crash repeats no message more than once.
     */
    @EachDatabase
    void whatWasCommittedIsHandledThoughEachProcessIsKilled(ShopDatabase database) throws Exception {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred())) {
            verify(new LedgerProcesses(LedgerShop.class, database, redis.port(), this.directory), database.toString());
        }
    }

    /** P1, P6: the same where each kill ends the database, too. */
    @Test
    void whatWasCommittedIsHandledThoughTheDatabaseIsKilledWithTheProcess() throws Exception {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred())) {
            verify(LedgerProcesses.withFile(LedgerShop.class, redis.port(), this.directory), "H2 in a file");
        }
    }

    private void verify(LedgerProcesses processes, String database) throws Exception {
        processes.createTables("shop-order.sql");
        int atPoints = processes.kill(KILLS, JournalPoint.withoutListeners(), () -> {
        });
        processes.awaitLocks();
        try (ConfigurableApplicationContext context = processes.start()) {
            JdbcClient jdbc = context.getBean(JdbcClient.class);
            // Their processes were killed before they moved, replaced or cancelled them.
            context.getBean(LedgerShop.class)
                .release(lost(jdbc).stream().filter((id) -> id.startsWith(LedgerShop.HELD)).toList());
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(lost(jdbc)).isEmpty());
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(rows(jdbc)).isZero());
            assertThat(unwanted(jdbc)).isEmpty();
            assertRepeatedByKillsOnly(processes.kills());
            report(database, atPoints, jdbc);
        }
    }

    /**
     * Returns the ids of the committed orders that were not handled. A successor that was
     * sent while a lapsed lease was not claimed again is kept out, and its predecessor is
     * handled once more.
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
            .map(Map.Entry::getKey)
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

    /**
     * Asserts that each handling after the first of a message follows the kill of the
     * process that had handled it, once, and that the messages that a kill repeats are at
     * most those in flight: four that handlers have, and a batch of acknowledgements.
     */
    private void assertRepeatedByKillsOnly(List<Kill> kills) throws IOException {
        Map<Long, Integer> killedAt = kills.stream()
            .collect(Collectors.toMap(Kill::process, Kill::handledBefore, Math::min));
        Map<String, Long> lastProcesses = new HashMap<>();
        Map<String, Set<Long>> processes = new HashMap<>();
        Map<Long, Set<String>> repeated = new HashMap<>();
        List<Handling> handled = handled();
        for (int i = 0; i < handled.size(); i++) {
            String message = handled.get(i).message();
            long process = handled.get(i).process();
            assertThat(processes.computeIfAbsent(message, (first) -> new HashSet<>()).add(process))
                .as("%s is handled once by process %d", message, process)
                .isTrue();
            Long before = lastProcesses.put(message, process);
            if (before != null) {
                assertThat(killedAt).as("%s is handled again after a kill", message).containsKey(before);
                assertThat(i).as("%s is handled again after the kill of process %d", message, before)
                    .isGreaterThanOrEqualTo(killedAt.get(before));
                repeated.computeIfAbsent(before, (killed) -> new HashSet<>()).add(message);
            }
        }
        assertThat(repeated).allSatisfy((process, messages) -> assertThat(messages)
            .hasSizeLessThanOrEqualTo(LedgerShop.CONCURRENCY + MessageStore.BATCH_LIMIT));
        System.out.printf("LedgerCrashTests: messages repeated by one kill: at most %d%n",
                repeated.values().stream().mapToInt(Set::size).max().orElse(0));
    }

    private void report(String database, int atPoints, JdbcClient jdbc) throws IOException {
        List<Handling> handled = handled();
        Map<String, Long> counts = handled.stream()
            .collect(Collectors.groupingBy(Handling::message, Collectors.counting()));
        Map<String, Long> extra = new TreeMap<>();
        counts.forEach((message, count) -> {
            if (count > 1) {
                extra.merge(message.substring(message.indexOf(' ') + 1), count - 1, Long::sum);
            }
        });
        System.out.printf(
                "LedgerCrashTests: %s, %d kills, %d of them at their points, %d orders, %d cancelled, %d handlings, "
                        + "extra %s, 0 lost%n",
                database, KILLS, atPoints, orders(jdbc).size(),
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
        try (Stream<String> lines = Files.lines(this.directory.resolve(LedgerProcesses.HANDLED))) {
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
