package io.delayqueue.shop.crash;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopDatabase;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Kills processes with a transactional listener at the points between the statements of
 * the journal, while Redis loses everything now and then.
 */
@Tag("server")
@Tag("matrix")
@Timeout(value = 3, unit = TimeUnit.HOURS)
class TransactionalCrashTests {

    /** Processes killed on each database; with all databases, each point is reached. */
    private static final int KILLS = Integer.getInteger("dq.journal.kills", 6);

    @TempDir
    private Path directory;

    /**
     * P1, P6: the effect of each committed message occurs once, and none of a message
     * that was cancelled, replaced or rolled back.
     */
    @EachDatabase
    void eachMessageHasOneEffectThoughProcessesAreKilledAndRedisIsFlushed(ShopDatabase database) throws Exception {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred())) {
            LedgerProcesses processes = new LedgerProcesses(LedgerBank.class, database, redis.port(), this.directory);
            processes.createTables("payment.sql");
            AtomicInteger ready = new AtomicInteger();
            int atPoints = processes.kill(KILLS, List.of(JournalPoint.values()), () -> {
                if (ready.getAndIncrement() % 2 == 0) {
                    redis.commands().flushall();
                }
            });
            processes.awaitLocks();
            try (ConfigurableApplicationContext context = processes.start()) {
                JdbcClient jdbc = context.getBean(JdbcClient.class);
                int held = context.getBean(LedgerBank.class).release();
                await().atMost(LedgerProcesses.PATIENCE)
                    .untilAsserted(() -> assertThat(count(jdbc, "payment WHERE times = 0")).isZero());
                await().atMost(LedgerProcesses.PATIENCE)
                    .untilAsserted(() -> assertThat(
                            count(jdbc, "delayqueue_journal WHERE operation <> 'C' OR accepted = FALSE"))
                        .isZero());
                assertThat(count(jdbc, "payment WHERE times <> 1")).isZero();
                System.out.printf(
                        "TransactionalCrashTests: %s, %d kills, %d of them at their points, %d flushes, "
                                + "%d payments of which %d were still held, each made once%n",
                        database, KILLS, atPoints, (ready.get() + 1) / 2, count(jdbc, "payment"), held);
            }
        }
    }

    private static long count(JdbcClient jdbc, String rows) {
        return jdbc.sql("SELECT COUNT(*) FROM " + rows).query(Long.class).single();
    }

}
