package io.delayqueue.shop.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.delayqueue.ScheduleStatus;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopDatabase;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Kills processes that fire the schedule of a ledger, each at one of the points between
 * the statements of the journal.
 */
@Tag("server")
@Tag("matrix")
@Timeout(value = 3, unit = TimeUnit.HOURS)
class LedgerScheduleCrashTests {

    /** Processes killed on each database. */
    private static final int KILLS = Integer.getInteger("dq.journal.kills", 5);

    private static final List<JournalPoint> POINTS = List.of(JournalPoint.BEFORE_INSERT, JournalPoint.BEFORE_COMMIT,
            JournalPoint.AFTER_COMMIT, JournalPoint.BEFORE_MARK, JournalPoint.AFTER_MARK, JournalPoint.BEFORE_ENDS,
            JournalPoint.IN_ENDS, JournalPoint.AFTER_ENDS);

    private static final Duration PATIENCE = LedgerProcesses.PATIENCE;

    @TempDir
    private Path directory;

    /**
     * P1, P8: each occurrence is sent once and handled, and no row is left. One that was
     * at hand at a crash is handled again, by another process and with the same row.
     */
    @EachDatabase
    void eachOccurrenceIsSentOnceThoughEachProcessIsKilled(ShopDatabase database) throws Exception {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred())) {
            LedgerProcesses processes = new LedgerProcesses(LedgerTicker.class, database, redis.port(), this.directory);
            processes.createTables("shop-order.sql");
            int atPoints = processes.kill(KILLS, POINTS, () -> {
            });
            processes.awaitLocks();
            try (ConfigurableApplicationContext context = processes.start()) {
                DelayQueueTemplate queue = context.getBean(DelayQueueTemplate.class);
                await().atMost(PATIENCE).until(() -> isUpToDate(queue));
                queue.schedules(LedgerTicker.TICKS).pause(LedgerTicker.TICK);
                await().atMost(PATIENCE).untilAsserted(() -> assertThat(rows(context)).isZero());
                ScheduleStatus status = status(queue);
                List<String> handled = handled();
                assertThat(handled).doesNotHaveDuplicates();
                assertThat(rowsOf(handled)).allSatisfy((time, rows) -> assertThat(rows).hasSize(1));
                assertThat(times(handled)).hasSize((int) status.sent())
                    .containsExactlyInAnyOrderElementsOf(LongStream.rangeClosed(0, status.sent() - 1)
                        .map((i) -> status.lastAt().toEpochMilli() - i * LedgerTicker.RATE_MILLIS)
                        .boxed()
                        .toList());
                System.out.printf(
                        "LedgerScheduleCrashTests: %s, %d kills, %d of them at their points, %d occurrences, "
                                + "%d handlings, 0 missing%n",
                        database, KILLS, atPoints, status.sent(), handled.size());
            }
        }
    }

    private static ScheduleStatus status(DelayQueueTemplate queue) {
        return queue.schedules(LedgerTicker.TICKS).find(LedgerTicker.TICK).orElseThrow();
    }

    /** Returns whether nothing waits of what was due while no process ran. */
    private static boolean isUpToDate(DelayQueueTemplate queue) {
        return queue.statistics(LedgerTicker.TICKS).scheduled() < 10 && status(queue).sent() > 10;
    }

    private static long rows(ConfigurableApplicationContext context) {
        return context.getBean(JdbcClient.class)
            .sql("SELECT COUNT(*) FROM delayqueue_journal")
            .query(Long.class)
            .single();
    }

    private static Set<Long> times(List<String> handled) {
        return new HashSet<>(
                handled.stream().map((line) -> Long.valueOf(line.split(" ")[0])).collect(Collectors.toList()));
    }

    /** Returns the rows of the messages of each nominal time. */
    private static Map<String, Set<String>> rowsOf(List<String> handled) {
        return handled.stream()
            .map((line) -> line.split(" "))
            .filter((fields) -> !fields[2].equals("null")) // the lease was over
            .collect(Collectors.groupingBy((fields) -> fields[0],
                    Collectors.mapping((fields) -> fields[2], Collectors.toSet())));
    }

    /** Returns the nominal times, processes and rows of the handlings. */
    private List<String> handled() throws IOException {
        try (Stream<String> lines = Files.lines(this.directory.resolve(LedgerProcesses.HANDLED))) {
            return lines.toList();
        }
    }

}
