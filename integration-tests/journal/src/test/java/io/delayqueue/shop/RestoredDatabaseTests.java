package io.delayqueue.shop;

import java.time.Duration;

import io.delayqueue.QueueName;
import io.delayqueue.SendOutcome;
import io.delayqueue.actuator.JournalHealthIndicator;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.journal.HandlerTransactionExecutor;
import io.delayqueue.journal.HandlerTransactionException;
import io.delayqueue.journal.JournalFactory;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.journal.RestoreRefusedException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.transaction.PlatformTransactionManager;

import static io.delayqueue.shop.Shop.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests a ledger whose database was restored from a backup: it holds rows of messages
 * that have ended since, and assigns revisions again that messages in Redis have.
 */
@Tag("server")
class RestoredDatabaseTests {

    private static final Duration LATER = Duration.ofHours(1);

    private RedisServer redis;

    private ShopApplication shop;

    @BeforeEach
    void startRedis() {
        this.redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterEach
    void stop() {
        this.shop.close();
        this.redis.close();
    }

    /**
     * P1, P5: after the restore of a backup nothing is relayed, restored, handled in a
     * transaction or deleted until an operator has decided.
     */
    @EachDatabase
    void aDatabaseThatIsOlderThanRedisIsLeftAlone(ShopDatabase database) {
        String backup = backUp(database);
        commitLaterTime(Duration.ofMinutes(5));
        // Ended messages are forgotten after a minute.
        this.redis.commands().del("dq:{" + ORDERS + "}:changes");
        this.shop.close();

        this.shop = ShopApplication.start(this.redis, backup);
        await().untilAsserted(() -> assertThat(health().getStatus()).isEqualTo(Status.DOWN));
        assertThat(health().getDetails().get("problems").toString()).contains("is older than Redis");
        this.shop.makeOverdue();
        assertThat(this.shop.queue().send(ORDERS, "later", "again", LATER).outcome()).isEqualTo(SendOutcome.RECORDED);
        assertThat(this.shop.journal().restore(RestorePlan.all().asDryRun())).satisfies((count) -> {
            assertThat(count.skipped()).isPositive();
            assertThat(count.restored() + count.known()).isZero();
        });
        assertThat(this.shop.journal().restore(RestorePlan.all()).restored()).isZero();
        assertThatExceptionOfType(RestoreRefusedException.class)
            .isThrownBy(() -> this.shop.journal().restore(RestorePlan.all().queue(ORDERS).asDryRun(), null))
            .withMessageContaining("is not restored: The database of the journal is older than Redis");
        assertThat(this.shop.rows()).isEqualTo(2);
        assertThat(this.shop.shop().handled).isEmpty();
        assertThat(this.shop.queue().find(ORDERS, "later").orElseThrow().payload()).isEqualTo("\"later\"");
        assertThatExceptionOfType(HandlerTransactionException.class).isThrownBy(() -> handle(Long.MAX_VALUE))
            .withMessageContaining("is older than");
        assertThat(committedAt()).isLessThan(System.currentTimeMillis());

        String next = (database == ShopDatabase.MARIADB) ? "AUTO_INCREMENT = 1000000"
                : "ALTER COLUMN revision RESTART WITH 1000000";
        this.shop.jdbc().sql("ALTER TABLE delayqueue_journal " + next).update();
        this.shop.jdbc()
            .sql("UPDATE delayqueue_journal_identity SET committed_at = ?")
            .param(System.currentTimeMillis() + Duration.ofMinutes(5).toMillis())
            .update();

        await().untilAsserted(() -> assertThat(health().getStatus()).isEqualTo(Status.UP));
        await().atMost(Duration.ofMinutes(1))
            .untilAsserted(() -> assertThat(this.shop.shop().handled).containsExactly("handled since"));
        assertThat(this.shop.queue().send(ORDERS, "new", "new", LATER).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    /**
     * A database that has lost its last transactions, as after a failover to a lagging
     * replica, does not stop the ledger.
     */
    @EachDatabase
    void aLossOfSecondsIsAccepted(ShopDatabase database) {
        String backup = backUp(database);
        commitLaterTime(Duration.ofSeconds(50));
        this.shop.close();

        this.shop = ShopApplication.start(this.redis, backup);

        assertThat(this.shop.queue().send(ORDERS, "new", "new", LATER).outcome()).isEqualTo(SendOutcome.SCHEDULED);
        String before = calls();
        await().untilAsserted(() -> assertThat(calls()).isNotEqualTo(before));
        assertThat(health().getStatus()).isEqualTo(Status.UP);
        // No message in Redis has the revision of another one.
        this.shop.queue().send(ORDERS, "next", "next", LATER);
        assertThat(this.shop.jdbc().sql("SELECT MAX(revision) FROM delayqueue_journal").query(Long.class).single())
            .isGreaterThan(1_000_000);
    }

    /**
     * Nodes commit times in turn: one that has read the time before the others is not
     * older.
     */
    @EachDatabase
    @Tag("matrix")
    void aNodeThatIsBehindTheOthersIsNotOlder(ShopDatabase database) {
        this.shop = ShopApplication.start(this.redis, database.url());
        this.shop.queue().send(ORDERS, "1", "later", LATER);
        await().untilAsserted(() -> assertThat(calls()).isNotNull());
        for (int minutes = 2; minutes <= 8; minutes += 2) {
            commitLaterTime(Duration.ofMinutes(minutes));
            String before = calls();
            await().untilAsserted(() -> assertThat(calls()).isNotEqualTo(before));
            assertThat(health().getStatus()).isEqualTo(Status.UP);
        }
    }

    /**
     * Returns the URL of a copy in which a message waits that is handled after it, and
     * sends another.
     */
    private String backUp(ShopDatabase database) {
        String url = database.url();
        this.shop = ShopApplication.start(this.redis, url);
        this.shop.queue().pause(ORDERS);
        this.shop.queue().send(ORDERS, "1", "handled since", Duration.ZERO);
        await().untilAsserted(() -> assertThat(this.shop.accepted()).isOne());
        this.shop.close();
        String backup = database.copy(url);
        this.shop = ShopApplication.start(this.redis, url);
        this.shop.queue().resume(ORDERS);
        await().untilAsserted(() -> assertThat(this.shop.shop().handled).containsExactly("handled since"));
        await().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
        this.shop.queue().send(ORDERS, "later", "later", LATER);
        await().untilAsserted(() -> assertThat(this.shop.accepted()).isOne());
        return backup;
    }

    /** Commits the time that the database has after a while, and waits for a call. */
    private void commitLaterTime(Duration time) {
        long later = System.currentTimeMillis() + time.toMillis();
        this.shop.jdbc().sql("UPDATE delayqueue_journal_identity SET committed_at = ?").param(later).update();
        await().untilAsserted(() -> assertThat(Long.parseLong(calls().split(" ")[2])).isGreaterThanOrEqualTo(later));
    }

    private void handle(long revision) {
        HandlerTransactionExecutor messages = this.shop.context()
            .getBean(JournalFactory.class)
            .handlerTransactions(this.shop.context().getBean(PlatformTransactionManager.class));
        try {
            messages.execute(new QueueName(ORDERS), "1", revision, () -> true);
        }
        catch (RuntimeException ex) {
            throw ex;
        }
        catch (Throwable ex) {
            throw new AssertionError(ex);
        }
    }

    private long committedAt() {
        return this.shop.jdbc().sql("SELECT committed_at FROM delayqueue_journal_identity").query(Long.class).single();
    }

    private Health health() {
        return new JournalHealthIndicator(this.shop.context().getBean(JournalFactory.class).status()).health();
    }

    private String calls() {
        return this.redis.commands().get("dq:{" + ORDERS + "}:journal");
    }

}
