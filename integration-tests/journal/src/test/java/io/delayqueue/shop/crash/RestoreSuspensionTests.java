package io.delayqueue.shop.crash;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.delayqueue.CancelResult;
import io.delayqueue.fixtures.application.ChildJvm;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.shop.EachDatabase;
import io.delayqueue.shop.ShopApplication;
import io.delayqueue.shop.ShopDatabase;
import io.delayqueue.template.DelayQueueTemplate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.jdbc.core.simple.JdbcClient;

import static io.delayqueue.shop.crash.LedgerKeeper.POISON;
import static io.delayqueue.shop.crash.LedgerKeeper.QUEUE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Suspends a process that sweeps or restores a ledger, each at one of the points between
 * a read of the journal and the offers that follow. Another process ends the messages
 * meanwhile, and Redis forgets that they have ended.
 */
@Tag("server")
@Tag("matrix")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class RestoreSuspensionTests {

    private static final Duration PATIENCE = LedgerProcesses.PATIENCE;

    private static final Duration LATER = Duration.ofHours(2);

    /** Longer than a claim with the command timeout of the processes. */
    private static final Duration SUSPENSION = Duration.ofSeconds(12);

    private static final String STEM = "dq:{" + QUEUE + "}:";

    @TempDir
    private Path directory;

    private RedisServer redis;

    private LedgerProcesses processes;

    private DelayQueueTemplate queue;

    private LedgerKeeper keeper;

    private JdbcClient jdbc;

    private SmartLifecycle reconciler;

    /**
     * P6: a process that is suspended while it sweeps stores no message that has ended.
     */
    @EachDatabase
    void aSweepThatContinuesLateStoresNothing(ShopDatabase database) throws Exception {
        run(database, () -> {
            for (JournalPoint point : List.of(JournalPoint.BEFORE_CHECK, JournalPoint.AFTER_CHECK)) {
                String id = sendLater(point);
                suspend(point, this::makeOverdue, () -> end(id));
                assertThat(this.queue.find(QUEUE, id)).as("stored after a suspension at " + point).isEmpty();
                assertThat(this.keeper.handled).containsOnlyOnce(id);
            }
        });
    }

    /**
     * P6: a process that is suspended while it restores stores no message that has ended.
     */
    @EachDatabase
    void aRestoreThatContinuesLateStoresNothing(ShopDatabase database) throws Exception {
        run(database, () -> {
            String id = sendLater(JournalPoint.AFTER_RESTORE);
            suspend(JournalPoint.AFTER_RESTORE, this::requestRestore, () -> end(id));
            assertThat(this.queue.find(QUEUE, id)).isEmpty();
            assertThat(this.keeper.handled).containsOnlyOnce(id);
        });
    }

    /** A dead letter that was purged meanwhile is not stored again. */
    @EachDatabase
    void aRestoreThatContinuesLateStoresNoDeadLetter(ShopDatabase database) throws Exception {
        run(database, () -> {
            this.queue.send(QUEUE, "1", POISON, Duration.ZERO);
            await().atMost(PATIENCE).until(() -> count("delayqueue_dead_letter") == 1);
            suspend(JournalPoint.AFTER_DEAD_LETTERS, this::requestRestore, () -> {
                assertThat(this.queue.deadLetters(QUEUE).purgeAll()).isOne();
                await().atMost(PATIENCE).until(() -> count("delayqueue_dead_letter") == 0);
            });
            assertThat(this.queue.statistics(QUEUE).dead()).isZero();
        });
    }

    /** P1: a cancel that is repeated late does not remove a later message of the id. */
    @EachDatabase
    void aCancelThatIsRepeatedLateRemovesNoLaterMessage(ShopDatabase database) throws Exception {
        run(database, () -> {
            String id = sendLater(JournalPoint.AFTER_CANCELS);
            assertThat(this.queue.cancel(QUEUE, id)).isEqualTo(CancelResult.CANCELLED);
            await().atMost(PATIENCE).until(() -> count("delayqueue_journal WHERE accepted = TRUE") == 1);
            suspend(JournalPoint.AFTER_CANCELS, this::requestRestore, () -> sendLater(JournalPoint.AFTER_CANCELS));
            assertThat(this.queue.find(QUEUE, id)).isPresent();
        });
    }

    private void run(ShopDatabase database, Work work) throws Exception {
        try (RedisServer server = RedisServer.start(RedisBinary.preferred())) {
            this.redis = server;
            this.processes = new LedgerProcesses(LedgerKeeper.class, database, server.port(), this.directory);
            try (ConfigurableApplicationContext context = this.processes.start(
                    "delayqueue.journal.jdbc.initialize-schema=always", "delayqueue.journal.restore-pause=1s",
                    "crash.point=")) {
                this.queue = context.getBean(DelayQueueTemplate.class);
                this.keeper = context.getBean(LedgerKeeper.class);
                this.jdbc = context.getBean(JdbcClient.class);
                this.reconciler = context.getBean("delayQueueJournalReconciler", SmartLifecycle.class);
                work.run();
            }
        }
    }

    /** Sends a message that is not due during the test, and waits for its row. */
    private String sendLater(JournalPoint point) {
        String id = point.name();
        this.queue.send(QUEUE, id, id, LATER);
        await().atMost(PATIENCE)
            .until(() -> count("delayqueue_journal WHERE operation = 'S' AND accepted = TRUE") == 1);
        await().atMost(PATIENCE).until(() -> calls() > 1);
        return id;
    }

    private void makeOverdue() {
        this.jdbc.sql("UPDATE delayqueue_journal SET claimed_until = 1 WHERE operation = 'S'").update();
    }

    /** Lets the next call of a node restore the queue. */
    private void requestRestore() {
        this.redis.commands().del(STEM + "journal");
    }

    /** Lets a message be handled, and waits until its row is deleted. */
    private void end(String id) {
        this.queue.reschedule(QUEUE, id, Duration.ZERO);
        await().atMost(PATIENCE).until(() -> this.keeper.handled.contains(id));
        await().atMost(PATIENCE).until(() -> count("delayqueue_journal WHERE operation <> 'C'") == 0);
    }

    /**
     * Suspends a process at a point for longer than a claim.
     * @param before lets the process come to the point
     * @param meanwhile is done by this process
     */
    private void suspend(JournalPoint point, Runnable before, Runnable meanwhile) throws Exception {
        this.reconciler.stop();
        before.run();
        try (ChildJvm child = this.processes.process(List.of(), "crash.point=" + point, "spring.main.keep-alive=true",
                "delayqueue.listener.auto-startup=false", "delayqueue.journal.restore-pause=1s")) {
            awaitLine(child, "HANDLING " + point);
            child.signal("STOP");
            long stopped = System.nanoTime();
            this.reconciler.start();
            meanwhile.run();
            this.reconciler.stop();
            // As Redis does after a minute.
            this.redis.commands().del(STEM + "changes");
            // Real time: the deadline of the offers is on the clock of Redis.
            await().atMost(PATIENCE).until(() -> System.nanoTime() - stopped > SUSPENSION.toNanos());
            child.signal("CONT");
            child.goOn();
            awaitLine(child, "READY resumed");
            // The same thread of the process makes these calls after its offers.
            long calls = calls();
            await().atMost(PATIENCE).until(() -> calls() > calls + 2);
        }
        this.reconciler.start();
    }

    private static void awaitLine(ChildJvm child, String prefix) {
        await().atMost(PATIENCE)
            .alias("a line " + prefix)
            .until(child::poll, (line) -> line != null && line.startsWith(prefix));
    }

    private long calls() {
        return ShopApplication.calls(this.redis, QUEUE);
    }

    private long count(String rows) {
        return this.jdbc.sql("SELECT COUNT(*) FROM " + rows).query(Long.class).single();
    }

    /** Uses an application. */
    @FunctionalInterface
    private interface Work {

        void run() throws Exception;

    }

}
