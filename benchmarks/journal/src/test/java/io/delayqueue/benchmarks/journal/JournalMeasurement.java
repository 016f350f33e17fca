package io.delayqueue.benchmarks.journal;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.journal.RestoreReport;
import io.delayqueue.template.DelayQueueTemplate;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Measures a ledger in PostgreSQL with many rows: sends beside {@code -Ddq.rows} live
 * messages and beside 10,000, in turns; a restore of {@code -Ddq.restored} messages; and
 * the cost of a sweep of {@code -Ddq.overdue} rows in Redis and the database, of which as
 * many as were restored are in Redis.
 */
@Timeout(value = 2, unit = TimeUnit.HOURS)
class JournalMeasurement {

    private static final int ROWS = Integer.getInteger("dq.rows", 10_000_000);

    private static final int FEW_ROWS = 10_000;

    private static final int OVERDUE = Integer.getInteger("dq.overdue", 5_000_000);

    private static final int RESTORED = Integer.getInteger("dq.restored", 1_000_000);

    private static final int TURNS = 10;

    private static final int SENDS = 200;

    private static final Duration SWEPT = Duration.ofSeconds(Integer.getInteger("dq.seconds", 30));

    private static final Duration LATER = Duration.ofDays(30);

    private static final String QUEUE = "measured";

    private static EmbeddedPostgres postgres;

    private static long postgresPid;

    private static int databases;

    @BeforeAll
    static void startPostgres() throws IOException {
        Path directory = Path.of("target", "postgres-" + System.nanoTime()).toAbsolutePath();
        postgres = EmbeddedPostgres.builder()
            .setOverrideWorkingDirectory(directory.toFile())
            .setDataDirectory(directory.resolve("data"))
            .setServerConfig("synchronous_commit", "on")
            .setServerConfig("max_wal_size", "8GB")
            .setPGStartupWait(Duration.ofMinutes(2))
            .start();
        postgresPid = Long.parseLong(Files.readAllLines(directory.resolve("data").resolve("postmaster.pid")).get(0));
    }

    @AfterAll
    static void stopPostgres() throws IOException {
        postgres.close();
    }

    @Test
    void sendsBesideManyRows() {
        try (Shop few = new Shop(); Shop many = new Shop()) {
            few.fill(FEW_ROWS, LATER, LATER);
            many.fill(ROWS, LATER, LATER);
            send(few, "warm-up");
            send(many, "warm-up");
            List<Long> besideFew = new ArrayList<>();
            List<Long> besideMany = new ArrayList<>();
            for (int turn = 0; turn < TURNS; turn++) {
                besideFew.addAll(send(few, "turn-" + turn));
                besideMany.addAll(send(many, "turn-" + turn));
            }
            print(FEW_ROWS, besideFew);
            print(ROWS, besideMany);
        }
    }

    private static List<Long> send(Shop shop, String prefix) {
        List<Long> micros = new ArrayList<>();
        for (int i = 0; i < SENDS; i++) {
            long start = System.nanoTime();
            assertThat(shop.queue().send(QUEUE, prefix + "-" + i, "measured", LATER).outcome())
                .isEqualTo(SendOutcome.SCHEDULED);
            micros.add((System.nanoTime() - start) / 1000);
        }
        return micros;
    }

    private static void print(int rows, List<Long> micros) {
        List<Long> sorted = micros.stream().sorted().toList();
        System.out.printf("send, commit and relay beside %,d rows: p50 %,d us, p90 %,d us, p99 %,d us; load %.1f%n",
                rows, sorted.get(sorted.size() / 2), sorted.get(sorted.size() * 9 / 10),
                sorted.get(sorted.size() * 99 / 100), load());
    }

    @Test
    void restoresAndSweeps() {
        try (Shop shop = new Shop()) {
            shop.fill(RESTORED, LATER, LATER);
            double redis = shop.redisSeconds();
            double database = postgresSeconds();
            long start = System.nanoTime();
            RestoreReport report = shop.context.getBean(JournalOperations.class).restore(RestorePlan.all());
            double seconds = (System.nanoTime() - start) / 1e9;
            assertThat(report.restored()).isEqualTo(RESTORED);
            System.out.printf("restore of %,d messages: %.1f s; CPU of Redis %.1f s, of PostgreSQL %.1f s; load %.1f%n",
                    RESTORED, seconds, shop.redisSeconds() - redis, postgresSeconds() - database, load());
            sweep(shop);
        }
    }

    private static void sweep(Shop shop) {
        shop.jdbc()
            .sql("UPDATE delayqueue_journal SET claimed_until = 1 WHERE message_id LIKE 'filled-%' AND checks = 0 "
                    + "AND claimed_until > :limit")
            .param("limit", System.currentTimeMillis() + LATER.dividedBy(2).toMillis())
            .update();
        shop.fill(OVERDUE - RESTORED, LATER, Duration.ZERO);
        // Otherwise the server does it meanwhile, which costs more than the sweep.
        shop.jdbc().sql("VACUUM (FREEZE, ANALYZE) delayqueue_journal").update();
        shop.jdbc().sql("CHECKPOINT").update();
        long before = shop.checked();
        double redis = shop.redisSeconds();
        double database = postgresSeconds();
        long start = System.nanoTime();
        await().pollDelay(SWEPT).atMost(SWEPT.multipliedBy(2)).until(() -> true);
        double seconds = (System.nanoTime() - start) / 1e9;
        double redisShare = (shop.redisSeconds() - redis) / seconds;
        double databaseShare = (postgresSeconds() - database) / seconds;
        System.out.printf(
                "sweep of %,d overdue rows: %,.0f rows/s, %.1f %% of a core of Redis, %.1f %% of PostgreSQL; load %.1f%n",
                OVERDUE, (shop.checked() - before) / seconds, 100 * redisShare, 100 * databaseShare, load());
    }

    private static double load() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    /** CPU time of all processes of the server, those that have ended included. */
    private static double postgresSeconds() {
        ProcessHandle server = ProcessHandle.of(postgresPid).orElseThrow();
        return Stream.concat(Stream.of(server), server.descendants()).mapToLong((process) -> ticks(process.pid())).sum()
                / 100.0;
    }

    private static long ticks(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", String.valueOf(pid), "stat"));
            String[] words = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return Stream.of(words).skip(11).limit(4).mapToLong(Long::parseLong).sum();
        }
        catch (IOException ex) {
            return 0; // it has just ended
        }
    }

    /** An application without listeners, with a Redis and a database of its own. */
    private static final class Shop implements AutoCloseable {

        private final RedisServer redis = RedisServer.start(RedisBinary.preferred());

        private final ConfigurableApplicationContext context;

        Shop() {
            this.context = SpringApplication.run(Application.class, "--spring.data.redis.port=" + this.redis.port(),
                    "--spring.datasource.url=" + createDatabase(), "--delayqueue.journal.mode=ledger",
                    "--delayqueue.journal.jdbc.initialize-schema=always", "--spring.main.banner-mode=off",
                    "--spring.main.web-application-type=none", "--logging.level.root=WARN");
            // The first call of a new queue restores it, and must not find the rows.
            queue().send(QUEUE, "template", "measured", LATER);
            await().atMost(Duration.ofMinutes(1))
                .until(() -> this.redis.commands().get("dq:{" + QUEUE + "}:journal"),
                        (journal) -> journal != null && Long.parseLong(journal.split(" ")[1]) > 1);
        }

        private static String createDatabase() {
            String name = "measured" + ++databases;
            try (var connection = postgres.getPostgresDatabase().getConnection();
                    var statement = connection.createStatement()) {
                statement.execute("CREATE DATABASE " + name);
            }
            catch (SQLException ex) {
                throw new IllegalStateException(ex);
            }
            return postgres.getJdbcUrl("postgres", name);
        }

        DelayQueueTemplate queue() {
            return this.context.getBean(DelayQueueTemplate.class);
        }

        JdbcClient jdbc() {
            return this.context.getBean(JdbcClient.class);
        }

        /** Inserts accepted rows that are copies of the one that was sent. */
        void fill(int rows, Duration due, Duration check) {
            long now = System.currentTimeMillis();
            jdbc()
                .sql("""
                        INSERT INTO delayqueue_journal (namespace, queue_name, message_id, operation, on_duplicate, due_millis,
                          due_relative, recorded_at, priority, envelope, accepted, checks, claimed_by, claimed_until)
                        SELECT namespace, queue_name, 'filled-' || :from + i, operation, on_duplicate, :due + i, FALSE,
                          recorded_at, priority, envelope, TRUE, 0, claimed_by, :check + i
                        FROM delayqueue_journal, generate_series(1, :rows) i WHERE message_id = 'template'""")
                .param("from", databases * 1_000_000_000L + (check.isZero() ? 500_000_000L : 0))
                .param("due", now + due.toMillis())
                .param("check", check.isZero() ? 2 : now + check.toMillis())
                .param("rows", rows)
                .update();
            jdbc().sql("ANALYZE delayqueue_journal").update();
        }

        /** Returns how many rows the sweep has compared with Redis. */
        long checked() {
            return jdbc().sql("SELECT COUNT(*) FROM delayqueue_journal WHERE checks > 0").query(Long.class).single();
        }

        double redisSeconds() {
            return this.redis.commands()
                .info("cpu")
                .lines()
                .filter((line) -> line.startsWith("used_cpu_user:") || line.startsWith("used_cpu_sys:"))
                .mapToDouble((line) -> Double.parseDouble(line.substring(line.indexOf(':') + 1)))
                .sum();
        }

        @Override
        public void close() {
            this.context.close();
            this.redis.close();
        }

    }

    @EnableAutoConfiguration
    static class Application {

    }

}
