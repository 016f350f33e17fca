package io.delayqueue.shop;

import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import io.delayqueue.BatchSendException;
import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.TcpProxy;
import io.delayqueue.journal.RestorePlan;
import io.delayqueue.journal.RestoreReport;
import io.lettuce.core.Range;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static io.delayqueue.shop.Shop.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Tests a ledger while Redis, its database or its pairing with the database fails: a send
 * is stored completely or rejected, and no message is lost or handled against its last
 * request.
 */
@Tag("server")
@ExtendWith(OutputCaptureExtension.class)
class LedgerFaultTests {

    static final Range<Integer> UNRECORDED = Range.from(Range.Boundary.including(0), Range.Boundary.unbounded());

    private static final Duration LATER = Duration.ofHours(1);

    private static final String STEM = "dq:{" + ORDERS + "}:";

    private static RedisServer redis;

    private ShopApplication shop;

    @BeforeAll
    static void startRedis() {
        redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    @AfterEach
    void stop() {
        if (this.shop != null) {
            this.shop.close();
        }
        if (!redis.isAlive()) {
            redis.restart();
        }
        redis.commands().flushall();
    }

    /** P1: a send that was committed while Redis was away is handled later. */
    @EachDatabase
    void aSendIsRecordedWhileRedisIsAway(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        redis.kill();

        assertThat(this.shop.queue().send(ORDERS, "alone").outcome()).isEqualTo(SendOutcome.RECORDED);
        this.shop.transaction().executeWithoutResult((status) -> this.shop.queue().send(ORDERS, "in transaction"));
        assertThat(this.shop.rows()).isEqualTo(2);
        redis.restart();

        await().atMost(Duration.ofMinutes(1))
            .untilAsserted(
                    () -> assertThat(this.shop.shop().handled).containsExactlyInAnyOrder("alone", "in transaction"));
        await().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
    }

    /**
     * P1, P3: a reschedule that is committed while Redis is away is applied once Redis is
     * back, without its data.
     */
    @EachDatabase
    void aRescheduleIsRecordedWhileRedisIsAway(ShopDatabase database) {
        // The claim of the row, which must run out, lasts four times as long.
        this.shop = ShopApplication.start(redis, database.url(), "delayqueue.command-timeout=2500ms");
        this.shop.queue().send(ORDERS, "1", "moved", Duration.ofHours(1));
        redis.kill();

        assertThat(this.shop.queue().reschedule(ORDERS, "1", Duration.ZERO)).isEqualTo(RescheduleResult.RECORDED);
        redis.restart();

        await().atMost(Duration.ofMinutes(1))
            .untilAsserted(() -> assertThat(this.shop.shop().handled).containsExactly("moved"));
        await().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
    }

    /**
     * P1: without the database a send fails and stores nothing, while handlers go on; the
     * rows of handled messages are deleted when the database is back.
     */
    @Test
    void messagesAreHandledWhileTheDatabaseIsAway() {
        String url = ShopDatabase.POSTGRESQL.url();
        URI address = URI.create(url.substring("jdbc:".length()));
        try (TcpProxy proxy = TcpProxy.to(address.getPort())) {
            this.shop = ShopApplication.start(redis, url.replace(":" + address.getPort(), ":" + proxy.port()),
                    "spring.datasource.hikari.connection-timeout=500",
                    "spring.datasource.hikari.validation-timeout=250");
            this.shop.queue().pause(ORDERS);
            List<DelayedMessage> batch = IntStream.range(0, 50)
                .mapToObj((i) -> DelayedMessage.builder(ORDERS, "order " + i).build())
                .toList();
            this.shop.queue().sendAll(batch);
            await().untilAsserted(() -> assertThat(calls()).isGreaterThan(2));
            await().untilAsserted(() -> assertThat(redis.commands().zcard(STEM + "changes")).isZero());
            proxy.refuse();

            assertThatThrownBy(() -> this.shop.queue().send(ORDERS, "alone")).isInstanceOf(DataAccessException.class);
            assertThatThrownBy(() -> this.shop.queue().cancel(ORDERS, "1")).isInstanceOf(DataAccessException.class);
            this.shop.queue().resume(ORDERS);
            await().untilAsserted(() -> assertThat(this.shop.shop().handled).hasSize(50));
            await().untilAsserted(() -> assertThat(redis.commands().zcard(STEM + "changes")).isEqualTo(50));

            proxy.pass();
            // The database may have stored what the rows of the relay were to become, and
            // the
            // pool connects again later.
            await().atMost(Duration.ofMinutes(1))
                .ignoreExceptionsInstanceOf(DataAccessException.class)
                .untilAsserted(() -> assertThat(this.shop.rows()).isZero());
            await().atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertThat(redis.commands().zcount(STEM + "changes", UNRECORDED)).isZero());
            assertThat(this.shop.shop().handled).hasSize(50).doesNotContain("alone");
        }
    }

    /** P1: an id may be used again before the row of its first message is deleted. */
    @EachDatabase
    void anIdIsUsedAgainBeforeTheRowOfItsFirstMessageIsDeleted(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        this.shop.reconciler().stop();
        this.shop.queue().send(ORDERS, "1", "first", Duration.ZERO);
        await().untilAsserted(() -> assertThat(this.shop.shop().handled).containsExactly("first"));
        // The reconciler may have added the entry of its first call before it was
        // stopped.
        await().untilAsserted(() -> assertThat(redis.commands().zrange(STEM + "changes", 0, -1))
            .filteredOn((entry) -> entry.matches("\\d+ 1"))
            .hasSize(1));

        assertThat(this.shop.queue().send(ORDERS, "1", "second", LATER).outcome()).isEqualTo(SendOutcome.SCHEDULED);
        await().untilAsserted(() -> assertThat(accepted("1")).isEqualTo(2));
        assertThat(this.shop.journal().restore(RestorePlan.all())).isEqualTo(new RestoreReport(0, 1, 0, 0));
        this.shop.reconciler().start();

        await().untilAsserted(() -> assertThat(this.shop.rows()).isOne());
        this.shop.makeOverdue();
        assertThat(this.shop.journal().restore(RestorePlan.all())).isEqualTo(new RestoreReport(0, 1, 0, 0));
        // The restore moves the message to the due time of its row.
        await().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
        assertThat(this.shop.shop().handled).containsExactly("first", "second");
    }

    /**
     * P6: a message that Redis has lost, and that was replaced before the loss was
     * noticed, is not handled after the one that replaced it.
     */
    @EachDatabase
    void aLostMessageThatWasReplacedIsNotHandled(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        this.shop.queue().send(ORDERS, "1", "first", LATER);
        await().untilAsserted(() -> assertThat(accepted("1")).isOne());
        this.shop.reconciler().stop();
        redis.commands().flushall();

        this.shop.queue()
            .send(DelayedMessage.builder(ORDERS, "second").id("1").onDuplicate(OnDuplicate.REPLACE).build());
        await().untilAsserted(() -> assertThat(this.shop.shop().handled).containsExactly("second"));
        this.shop.makeOverdue();
        this.shop.reconciler().start();

        await().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
        await().untilAsserted(() -> assertThat(redis.commands().hlen(STEM + "revisions")).isZero());
        assertThat(this.shop.shop().handled).containsExactly("second");
    }

    /**
     * P6: the same, if the node that replaced it ended before it had recorded the answer
     * of Redis.
     */
    @EachDatabase
    void aLostMessageIsNotHandledIfItsReplacementWasNotRecorded(ShopDatabase database) {
        this.shop = ShopApplication.start(redis, database.url());
        this.shop.queue().send(ORDERS, "1", "first", LATER);
        await().untilAsserted(() -> assertThat(accepted("1")).isOne());
        this.shop.reconciler().stop();
        redis.commands().flushall();
        update("message_id = 'hidden' WHERE message_id = '1'");

        this.shop.queue()
            .send(DelayedMessage.builder(ORDERS, "second").id("1").onDuplicate(OnDuplicate.REPLACE).build());
        await().untilAsserted(() -> assertThat(this.shop.shop().handled).containsExactly("second"));
        await().untilAsserted(() -> assertThat(accepted("1")).isOne());
        update("accepted = FALSE, claimed_until = 9000000000000 WHERE message_id = '1'");
        update("message_id = '1' WHERE message_id = 'hidden'");
        this.shop.reconciler().start();

        await().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
        await().untilAsserted(() -> assertThat(redis.commands().hlen(STEM + "revisions")).isZero());
        assertThat(this.shop.shop().handled).containsExactly("second");
    }

    private void update(String change) {
        assertThat(this.shop.jdbc().sql("UPDATE delayqueue_journal SET " + change).update()).isOne();
    }

    /**
     * P1: a database that is connected to the Redis of another one loses no row, neither
     * of its own nor of the other database, rejects further requests once that is known,
     * and the error is logged once.
     */
    @EachDatabase
    void aQueueOfAnotherJournalIsLeftAlone(ShopDatabase database, CapturedOutput output) {
        this.shop = ShopApplication.start(redis, database.url());
        this.shop.queue().send(ORDERS, "1", "owner's", LATER);
        await().untilAsserted(() -> assertThat(redis.commands().exists(STEM + "journal")).isOne());

        try (ShopApplication other = ShopApplication.start(redis, database.url(),
                "delayqueue.listener.auto-startup=false", "delayqueue.queues.plain.journal-mode=off")) {
            other.queue().send(ORDERS, "2", "other's", Duration.ZERO);
            await().untilAsserted(() -> assertThat(output).contains("belongs to journal"));
            assertThatThrownBy(() -> other.queue().send(ORDERS, "1", "other's second", LATER))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessage("Queue 'orders' belongs to the journal of another database. Nothing was recorded");
            assertThatThrownBy(() -> other.queue().cancel(ORDERS, "1")).isInstanceOf(StoreRefusedException.class);
            long calls = calls();
            await().untilAsserted(() -> assertThat(calls()).isGreaterThan(calls + 2));

            assertThat(other.jdbc().sql("SELECT COUNT(*) FROM delayqueue_journal").query(Long.class).single())
                .as("rows of the other database")
                .isOne();
            assertThat(this.shop.rows()).isOne();
            assertThat(this.shop.queue().find(ORDERS, "1")).isPresent();
            assertThat(output.getOut().split("belongs to journal", -1)).hasSize(2);
            assertThatExceptionOfType(BatchSendException.class)
                .isThrownBy(
                        () -> other.queue().sendAll(List.of(message("invoices"), message(ORDERS), message("plain"))))
                .satisfies((ex) -> {
                    assertThat(ex.stored()).extracting(SendResult::queue).containsExactly("invoices");
                    assertThat(ex.notStored()).extracting((message) -> message.queue().value())
                        .containsExactly(ORDERS, "plain");
                    assertThat(ex.unknown()).isEmpty();
                });
        }
    }

    /** P11: a caller who repeats a batch knows which of its messages are recorded. */
    @Test
    void aBatchListsTheRecordedMessagesIfOthersFail() {
        this.shop = ShopApplication.start(redis, ShopDatabase.H2.url(), "delayqueue.queues.plain.journal-mode=off");
        this.shop.queue().send(DelayedMessage.builder("plain", "1").id("1").group("a").delay(LATER).build());
        DelayedMessage refused = DelayedMessage.builder("plain", "1")
            .id("1")
            .group("b")
            .onDuplicate(OnDuplicate.REPLACE)
            .build();

        assertThatExceptionOfType(BatchSendException.class)
            .isThrownBy(() -> this.shop.queue().sendAll(List.of(refused, message("invoices"))))
            .satisfies((ex) -> {
                assertThat(ex.stored()).extracting(SendResult::queue).containsExactly("invoices");
                assertThat(ex.notStored()).containsExactly(refused);
                assertThat(ex.unknown()).isEmpty();
            });
    }

    private static DelayedMessage message(String queue) {
        return DelayedMessage.builder(queue, "content").delay(LATER).build();
    }

    /** P1: an error, such as one of memory, does not end what a node does each second. */
    @Test
    void anErrorDoesNotEndTheReconciler() {
        this.shop = ShopApplication.start(List.of(Shop.class, FailingDatabase.class), redis.port(),
                ShopDatabase.H2.url());
        this.shop.queue().send(ORDERS, "first");
        await().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
        FailingDatabase.failing.set(true);
        await().until(() -> !FailingDatabase.failing.get());

        this.shop.queue().send(ORDERS, "second");

        await().untilAsserted(() -> assertThat(this.shop.shop().handled).containsExactly("first", "second"));
        await().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
    }

    /** Throws an error in the next call of the reconciler. */
    static class FailingDatabase {

        static final AtomicBoolean failing = new AtomicBoolean();

        @Bean
        static BeanPostProcessor failingDataSource() {
            return new BeanPostProcessor() {

                @Override
                public Object postProcessAfterInitialization(Object bean, String name) {
                    return (bean instanceof DataSource source) ? failing(source) : bean;
                }

            };
        }

        private static DataSource failing(DataSource source) {
            return new DelegatingDataSource(source) {

                @Override
                public Connection getConnection() throws SQLException {
                    if (Thread.currentThread().getName().equals("delayqueue-journal-reconciler")
                            && failing.compareAndSet(true, false)) {
                        throw new OutOfMemoryError("thrown by the test");
                    }
                    return super.getConnection();
                }

            };
        }

    }

    private static long calls() {
        return Long.parseLong(redis.commands().get(STEM + "journal").split(" ")[1]);
    }

    private long accepted(String id) {
        return this.shop.jdbc()
            .sql("SELECT COUNT(*) FROM delayqueue_journal WHERE message_id = ? AND accepted = TRUE")
            .param(id)
            .query(Long.class)
            .single();
    }

}
