package io.delayqueue.shop.crash;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopDatabase;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Kills processes with a transactional listener at the points between the statements of
 * the journal, while Redis loses everything now and then, or the last seconds, as after a
 * failover to a replica that lagged.
 */
@Tag("server")
@Tag("matrix")
@Timeout(value = 3, unit = TimeUnit.HOURS)
class TransactionalCrashTests {

    /** Processes killed on each database; with all databases, each point is reached. */
    private static final int KILLS = Integer.getInteger("dq.journal.kills", 6);

    /** Copies all keys to another database at once. */
    private static final String COPY = """
            for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', key, key, 'DB', 1, 'REPLACE') end
            return 0""";

    @TempDir
    private Path directory;

    /**
     * P1, P6: the effect of each committed message occurs once, and none of a message
     * that was cancelled, replaced or rolled back.
     */
    @EachDatabase
    void eachMessageHasOneEffectThoughProcessesAreKilledAndRedisLosesData(ShopDatabase database) throws Exception {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred())) {
            LedgerProcesses processes = new LedgerProcesses(LedgerBank.class, database, redis.port(), this.directory);
            processes.createTables("payment.sql");
            AtomicInteger ready = new AtomicInteger();
            int atPoints = processes.kill(KILLS, JournalPoint.withListeners(), () -> {
                switch (ready.getAndIncrement() % 3) {
                    case 0 -> redis.commands().flushall();
                    case 1 -> redis.commands().eval(COPY, ScriptOutputType.INTEGER);
                    default -> goBack(redis.commands());
                }
            });
            processes.awaitLocks();
            try (ConfigurableApplicationContext context = processes.start()) {
                JdbcClient jdbc = context.getBean(JdbcClient.class);
                int held = context.getBean(LedgerBank.class).release();
                await().atMost(LedgerProcesses.PATIENCE)
                    .untilAsserted(() -> assertThat(count(jdbc, "payment WHERE times = 0")).isZero());
                await().atMost(LedgerProcesses.PATIENCE)
                    .untilAsserted(() -> assertThat(jdbc
                        .sql("SELECT revision, message_id, operation, accepted, due_millis, checks, claimed_until "
                                + "FROM delayqueue_journal WHERE operation <> 'C' OR accepted = FALSE")
                        .query()
                        .listOfRows()).isEmpty());
                assertThat(count(jdbc, "payment WHERE times <> 1")).isZero();
                System.out.printf(
                        "TransactionalCrashTests: %s, %d kills, %d of them at their points, %d flushes and %d returns to a copy, "
                                + "%d payments of which %d were still held, each made once%n",
                        database, KILLS, atPoints, (ready.get() + 2) / 3, ready.get() / 3, count(jdbc, "payment"),
                        held);
            }
        }
    }

    /** Replaces all keys by their copies at once. */
    private static void goBack(RedisCommands<String, String> commands) {
        commands.multi();
        commands.flushdb();
        commands.swapdb(0, 1);
        commands.exec();
    }

    private static long count(JdbcClient jdbc, String rows) {
        return jdbc.sql("SELECT COUNT(*) FROM " + rows).query(Long.class).single();
    }

}
