package io.delayqueue.shop.crash;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.shop.ShopDatabase;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Changes the same messages from several nodes, in transactions of several changes in any
 * order, and counts the deadlocks that the database has ended.
 */
@Tag("server")
@Tag("soak")
@Timeout(value = 3, unit = TimeUnit.HOURS)
class LedgerDeadlockTests {

    private static final int MINUTES = Integer.getInteger("dq.journal.minutes", 60);

    /** Transactions per second of a node. */
    private static final int RATE = Integer.getInteger("dq.journal.rate", 20);

    private static final int NODES = 2;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(value = ShopDatabase.class, names = { "POSTGRESQL", "MARIADB" })
    void noTransactionEndsInADeadlock(ShopDatabase database) throws Exception {
        List<ConfigurableApplicationContext> nodes = new ArrayList<>();
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred())) {
            LedgerProcesses processes = new LedgerProcesses(Clerk.class, database, redis.port(), this.directory);
            for (int i = 0; i < NODES; i++) {
                nodes.add(processes.start("delayqueue.journal.jdbc.initialize-schema=always"));
            }
            JdbcClient jdbc = nodes.get(0).getBean(JdbcClient.class);
            long before = deadlocks(jdbc, database);
            long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
            List<Clerk> clerks = nodes.stream().map((node) -> node.getBean(Clerk.class)).toList();
            List<Thread> threads = clerks.stream().map((clerk) -> new Thread(() -> clerk.work(end))).toList();
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }

            assertThat(clerks).extracting((clerk) -> clerk.failure).containsOnlyNulls();
            await().atMost(LedgerProcesses.PATIENCE)
                .untilAsserted(() -> assertThat(
                        jdbc.sql("SELECT COUNT(*) FROM delayqueue_journal WHERE operation <> 'C' OR accepted = FALSE")
                            .query(Long.class)
                            .single())
                    .isZero());
            long deadlocks = deadlocks(jdbc, database) - before;
            System.out.printf("LedgerDeadlockTests: %s, %d minutes, %d requests, %d handled, %d deadlocks%n", database,
                    MINUTES, clerks.stream().mapToLong((clerk) -> clerk.requests.get()).sum(),
                    clerks.stream().mapToLong((clerk) -> clerk.handled.get()).sum(), deadlocks);
            assertThat(deadlocks).isZero();
        }
        finally {
            nodes.forEach(ConfigurableApplicationContext::close);
        }
    }

    private static long deadlocks(JdbcClient jdbc, ShopDatabase database) {
        return jdbc
            .sql((database == ShopDatabase.POSTGRESQL)
                    ? "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
                    : "SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'")
            .query(Long.class)
            .single();
    }

    /** Sends, replaces, reschedules and cancels messages of few ids. */
    @EnableAutoConfiguration
    static class Clerk {

        private static final String QUEUE = "contended";

        private static final int IDS = 50;

        private static final int CHANGES = 4;

        final AtomicLong requests = new AtomicLong();

        final AtomicLong handled = new AtomicLong();

        volatile Throwable failure;

        private final DelayQueueTemplate queue;

        private final TransactionTemplate transaction;

        Clerk(DelayQueueTemplate queue, PlatformTransactionManager transactions) {
            this.queue = queue;
            this.transaction = new TransactionTemplate(transactions);
        }

        /** Fails now and then, so that failures are recorded too. */
        @DelayedListener(value = QUEUE, concurrency = "4")
        void handle(int number) {
            this.handled.incrementAndGet();
            if (number % 7 == 0 && ThreadLocalRandom.current().nextBoolean()) {
                throw new IllegalStateException("on purpose");
            }
        }

        void work(long end) {
            try {
                while (System.nanoTime() - end < 0) {
                    this.transaction.executeWithoutResult(
                            (status) -> Stream.generate(this::nextId).limit(CHANGES).forEach(this::change));
                    // Real time: the rate of the changes.
                    LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1) / RATE);
                }
            }
            catch (RuntimeException ex) {
                this.failure = ex;
            }
        }

        private int nextId() {
            return ThreadLocalRandom.current().nextInt(IDS);
        }

        private void change(int number) {
            ThreadLocalRandom random = ThreadLocalRandom.current();
            String id = Integer.toString(number);
            Duration delay = Duration.ofMillis(random.nextInt(3000));
            this.requests.incrementAndGet();
            switch (random.nextInt(6)) {
                case 0 -> this.queue.cancel(QUEUE, id);
                case 1 -> this.queue.reschedule(QUEUE, id, delay);
                default -> this.queue.send(DelayedMessage.builder(QUEUE, number)
                    .id(id)
                    .delay(delay)
                    .onDuplicate(OnDuplicate.values()[random.nextInt(OnDuplicate.values().length)])
                    .build());
            }
        }

    }

}
