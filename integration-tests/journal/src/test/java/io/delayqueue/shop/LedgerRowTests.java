package io.delayqueue.shop;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetter;
import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Tests what the relay changes in the rows of a ledger by the answers of Redis: each line
 * of the second table of docs/internals/journal.md, section Offers.
 */
@Tag("server")
class LedgerRowTests {

    private static final Duration LATER = Duration.ofHours(1);

    private static final AtomicInteger count = new AtomicInteger();

    private static RedisServer redis;

    private static ShopApplication shop;

    private final String queue = "rows-" + count.incrementAndGet();

    @BeforeAll
    static void start() {
        redis = RedisServer.start(RedisBinary.preferred());
        shop = ShopApplication.start(List.of(Shop.class, StatementGate.class), redis.port(),
                ShopDatabase.POSTGRESQL.url());
        shop.reconciler().stop();
    }

    @AfterAll
    static void stop() {
        shop.close();
        redis.close();
    }

    static Stream<Named<Consumer<LedgerRowTests>>> answers() {
        return Stream.of(Named.of("stored", LedgerRowTests::stored),
                Named.of("stored after an earlier message has ended", LedgerRowTests::storedAfterAnEnd),
                Named.of("successor", LedgerRowTests::successor), Named.of("RECORDED", LedgerRowTests::recorded),
                Named.of("REPLACED", LedgerRowTests::replaced),
                Named.of("a REPLACE that was stored", LedgerRowTests::replaceStored),
                Named.of("RECORDED for a REPLACE that was stored", LedgerRowTests::replaceRecorded),
                Named.of("KEPT for a REPLACE that was stored and has ended", LedgerRowTests::replaceEnded),
                Named.of("KEPT", LedgerRowTests::kept), Named.of("RESCHEDULED", LedgerRowTests::rescheduled),
                Named.of("NOT_FOUND for a reschedule", LedgerRowTests::rescheduleNotFound),
                Named.of("NOT_FOUND for a reschedule of a lost message", LedgerRowTests::rescheduleOfLost),
                Named.of("NOT_FOUND for a reschedule of an ended message", LedgerRowTests::rescheduleOfEnded),
                Named.of("LEASED for a reschedule", LedgerRowTests::rescheduleLeased),
                Named.of("CANCELLED", LedgerRowTests::cancelled),
                Named.of("LEASED for a cancel", LedgerRowTests::cancelLeased),
                Named.of("NOT_FOUND for a cancel", LedgerRowTests::cancelNotFound),
                Named.of("NOT_FOUND for a repeated cancel", LedgerRowTests::cancelAgain),
                Named.of("refused", LedgerRowTests::refused),
                Named.of("a later accepted row", LedgerRowTests::superseded),
                Named.of("a later accepted row, and another node has taken this one over",
                        LedgerRowTests::supersededOfAnotherNode),
                Named.of("a row of another node", LedgerRowTests::ofAnotherNode));
    }

    @ParameterizedTest
    @MethodSource("answers")
    void theRowsAreThoseOfTheAnswer(Consumer<LedgerRowTests> answer) {
        answer.accept(this);
    }

    private void stored() {
        assertThat(send(OnDuplicate.KEEP)).isEqualTo(SendOutcome.SCHEDULED);

        awaitRows("S accepted");
        assertThat(due()).isEqualTo(shop.queue().find(this.queue, "1").orElseThrow().dueAt().toEpochMilli());
    }

    private void storedAfterAnEnd() {
        leased().acknowledge();

        assertThat(send(OnDuplicate.KEEP)).isEqualTo(SendOutcome.SCHEDULED);

        awaitRows("S accepted", "S accepted");
        assertThat(redis.commands().zcard(stem() + "changes")).isOne();
    }

    private void successor() {
        leased();

        assertThat(send(OnDuplicate.REPLACE)).isEqualTo(SendOutcome.AFTER_CURRENT);
        awaitRows("S accepted", "S accepted");
        assertThat(send(OnDuplicate.REPLACE)).isEqualTo(SendOutcome.AFTER_CURRENT);

        awaitRows("S accepted", "S accepted", "S accepted");
        assertThat(redis.commands().zcard(stem() + "changes")).as("the successor that was replaced").isOne();
    }

    /** The node ended after the call, and before it changed the row. */
    private void recorded() {
        send(OnDuplicate.KEEP);
        awaitRows("S accepted");
        long due = due();

        update("accepted = FALSE, claimed_until = 0, due_millis = 10, due_relative = TRUE, claimed_by = 'other'");

        awaitRows("S accepted");
        assertThat(due()).isEqualTo(due);
    }

    private void replaced() {
        send(OnDuplicate.KEEP);
        awaitRows("S accepted");
        long first = revision();

        assertThat(send(OnDuplicate.REPLACE)).isEqualTo(SendOutcome.REPLACED);

        awaitRows("S accepted");
        await().untilAsserted(() -> assertThat(revision()).isGreaterThan(first));
    }

    private void replaceStored() {
        send(OnDuplicate.KEEP);
        awaitRows("S accepted");
        long first = revision();
        lose();

        assertThat(send(OnDuplicate.REPLACE)).isEqualTo(SendOutcome.SCHEDULED);

        await().untilAsserted(() -> assertThat(revision()).isGreaterThan(first));
        awaitRows("S accepted");
    }

    /** The node ended after the replacement of a lost message was stored. */
    private void replaceRecorded() {
        storeReplacement(LATER);

        awaitRows("S accepted");
        assertThat(shop.queue().find(this.queue, "1").orElseThrow().payload()).isEqualTo("\"second\"");
        assertThat(revision()).isEqualTo(number("MAX(revision)"));
    }

    private void replaceEnded() {
        storeReplacement(Duration.ZERO);

        awaitRows();
        assertThat(shop.queue().find(this.queue, "1")).isEmpty();
    }

    /**
     * Replaces a lost message, and lets another node offer the replacement again, with
     * the row of the lost one still there.
     */
    private void storeReplacement(Duration delay) {
        send(OnDuplicate.KEEP);
        awaitRows("S accepted");
        String saved = "saved_" + count.incrementAndGet();
        shop.jdbc()
            .sql("CREATE TABLE " + saved + " AS SELECT * FROM delayqueue_journal WHERE queue_name = '" + this.queue
                    + "'")
            .update();
        lose();
        assertThat(shop.queue()
            .send(DelayedMessage.builder(this.queue, "second")
                .id("1")
                .delay(delay)
                .onDuplicate(OnDuplicate.REPLACE)
                .build())
            .outcome()).isEqualTo(SendOutcome.SCHEDULED);
        awaitRows("S accepted");
        if (delay.isZero()) {
            shop.queue().receive(this.queue, Duration.ofSeconds(30)).orElseThrow().acknowledge();
        }
        update("accepted = FALSE, claimed_until = 9000000000000, claimed_by = 'other'");
        shop.jdbc().sql("INSERT INTO delayqueue_journal OVERRIDING SYSTEM VALUE SELECT * FROM " + saved).update();
        update("claimed_until = 0 WHERE accepted = FALSE");
    }

    private void kept() {
        send(OnDuplicate.KEEP);
        awaitRows("S accepted");
        long first = revision();

        assertThat(send(OnDuplicate.KEEP)).isEqualTo(SendOutcome.KEPT);

        awaitRows("S accepted");
        assertThat(revision()).isEqualTo(first);
    }

    private void rescheduled() {
        send(OnDuplicate.KEEP);
        awaitRows("S accepted");
        long first = due();

        assertThat(reschedule()).isEqualTo(RescheduleResult.RESCHEDULED);

        awaitRows("S accepted");
        await().untilAsserted(() -> assertThat(due()).isGreaterThan(first)
            .isEqualTo(shop.queue().find(this.queue, "1").orElseThrow().dueAt().toEpochMilli()));
    }

    private void rescheduleNotFound() {
        assertThat(reschedule()).isEqualTo(RescheduleResult.NOT_FOUND);

        awaitRows();
    }

    private void rescheduleOfLost() {
        send(OnDuplicate.KEEP);
        awaitRows("S accepted");
        long first = due();
        lose();

        assertThat(reschedule()).isEqualTo(RescheduleResult.RESCHEDULED);

        awaitRows("S accepted");
        await().untilAsserted(() -> assertThat(due()).isGreaterThan(first));
        assertThat(shop.queue().find(this.queue, "1")).isPresent();
    }

    private void rescheduleOfEnded() {
        leased().acknowledge();

        assertThat(reschedule()).isEqualTo(RescheduleResult.NOT_FOUND);

        awaitRows("S accepted");
        assertThat(shop.queue().find(this.queue, "1")).isEmpty();
    }

    private void rescheduleLeased() {
        leased();
        long due = due();

        assertThat(reschedule()).isEqualTo(RescheduleResult.LEASED);

        awaitRows("S accepted");
        assertThat(due()).isEqualTo(due);
    }

    private void cancelled() {
        send(OnDuplicate.KEEP);
        awaitRows("S accepted");

        assertThat(cancel()).isEqualTo(CancelResult.CANCELLED);

        awaitRows("C accepted");
        assertKeptUntilAnHourAfterTheDueTime();
    }

    /** A copy of the message that an older Redis has must not run. */
    private void cancelAgain() {
        cancelled();
        long first = revision();

        assertThat(cancel()).isEqualTo(CancelResult.NOT_FOUND);

        await().untilAsserted(() -> assertThat(revision()).isGreaterThan(first));
        awaitRows("C accepted");
        assertKeptUntilAnHourAfterTheDueTime();
    }

    private void assertKeptUntilAnHourAfterTheDueTime() {
        assertThat(nextCheck() - System.currentTimeMillis()).isBetween(LATER.plusMinutes(55).toMillis(),
                LATER.plusMinutes(65).toMillis());
    }

    private void cancelLeased() {
        leased();

        assertThat(cancel()).isEqualTo(CancelResult.LEASED);

        awaitRows("C accepted");
    }

    private void cancelNotFound() {
        assertThat(cancel()).isEqualTo(CancelResult.NOT_FOUND);

        awaitRows("C accepted");
    }

    private void refused() {
        shop.queue().send(DelayedMessage.builder(this.queue, "a").id("1").group("a").delay(LATER).build());
        awaitRows("S accepted");
        int events = shop.shop().refused.size();

        assertThatThrownBy(() -> send(OnDuplicate.REPLACE)).isInstanceOf(StoreRefusedException.class);

        awaitRows("S accepted");
        await().untilAsserted(() -> assertThat(shop.shop().refused).hasSize(events + 1));
        assertThat(shop.queue().find(this.queue, "1").orElseThrow().payload()).isEqualTo("\"a\"");
        DeadLetter refused = shop.queue().deadLetters(this.queue).list(null, 10).deadLetters().get(0);
        assertThat(refused.payload()).isEqualTo("\"REPLACE\"");
        assertThat(refused.cause()).contains("group");
        assertThat(shop.jdbc()
            .sql("SELECT COUNT(*) FROM delayqueue_dead_letter WHERE queue_name = ? AND dead_letter_id = ?")
            .param(this.queue)
            .param(refused.id())
            .query(Long.class)
            .single()).isOne();
    }

    /** An earlier request became visible after a later one was accepted. */
    private void superseded() {
        cancel();
        awaitRows("C accepted");
        send(OnDuplicate.KEEP);
        awaitRows("C accepted", "S accepted");

        update("accepted = FALSE, claimed_until = 0, claimed_by = 'other' WHERE operation = 'C'");

        awaitRows("S accepted");
        assertThat(shop.queue().find(this.queue, "1")).isPresent();
    }

    /**
     * This node stalls after it has read a row that is superseded. The later message ends
     * meanwhile, so another node has Redis accept the request.
     */
    private void supersededOfAnotherNode() {
        StatementGate gate = shop.context().getBean(StatementGate.class);
        cancel();
        awaitRows("C accepted");
        send(OnDuplicate.KEEP);
        awaitRows("C accepted", "S accepted");
        gate.close("DELETE FROM delayqueue_journal");
        update("accepted = FALSE, claimed_until = 0, claimed_by = 'other' WHERE operation = 'C'");
        await().until(gate::isReached);

        update("accepted = TRUE, claimed_until = 9000000000000, claimed_by = 'other' WHERE operation = 'C'");
        gate.open();
        shop.queue().send(this.queue, "2", "another id", LATER);
        await().untilAsserted(() -> assertThat(accepted("2")).isOne());

        awaitRows("C accepted", "S accepted");
    }

    /** Another node has a claim on the row: this one changes nothing. */
    private void ofAnotherNode() {
        send(OnDuplicate.KEEP);
        awaitRows("S accepted");
        update("accepted = FALSE, claimed_until = 9000000000000, claimed_by = 'other'");

        shop.transaction().executeWithoutResult((status) -> cancel());
        shop.queue().send(this.queue, "2", "another id", LATER);
        await().untilAsserted(() -> assertThat(accepted("2")).isOne());

        awaitRows("S pending", "C pending");
        assertThat(shop.queue().find(this.queue, "1")).isPresent();
    }

    private SendOutcome send(OnDuplicate onDuplicate) {
        return shop.queue()
            .send(DelayedMessage.builder(this.queue, onDuplicate.name())
                .id("1")
                .delay(LATER)
                .onDuplicate(onDuplicate)
                .build())
            .outcome();
    }

    private ReceivedMessage leased() {
        shop.queue().send(DelayedMessage.builder(this.queue, "now").id("1").build());
        awaitRows("S accepted");
        return shop.queue().receive(this.queue, Duration.ofSeconds(30)).orElseThrow();
    }

    private RescheduleResult reschedule() {
        return shop.queue().reschedule(this.queue, "1", LATER.multipliedBy(2));
    }

    private CancelResult cancel() {
        return shop.queue().cancel(this.queue, "1");
    }

    /** Removes the message from Redis without a trace, as eviction could. */
    private void lose() {
        assertThat(redis.commands().hdel(stem() + "messages", "1")).isOne();
        redis.commands().hdel(stem() + "revisions", "1");
        redis.commands().zrem(stem() + "scheduled", "1");
    }

    private String stem() {
        return "dq:{" + this.queue + "}:";
    }

    private void awaitRows(String... rows) {
        await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertThat(rows()).containsExactly(rows));
    }

    private List<String> rows() {
        return shop.jdbc()
            .sql("SELECT operation, accepted FROM delayqueue_journal WHERE queue_name = ? AND message_id = '1' "
                    + "ORDER BY revision")
            .param(this.queue)
            .query((row, number) -> row.getString(1) + (row.getBoolean(2) ? " accepted" : " pending"))
            .list();
    }

    private void update(String values) {
        String where = values.contains(" WHERE ") ? " AND queue_name = ?" : " WHERE queue_name = ?";
        assertThat(shop.jdbc().sql("UPDATE delayqueue_journal SET " + values + where).param(this.queue).update())
            .isOne();
    }

    private long due() {
        return number("MAX(due_millis)");
    }

    private long revision() {
        return number("MIN(revision)");
    }

    private long nextCheck() {
        return number("MAX(claimed_until)");
    }

    private long accepted(String id) {
        return shop.jdbc()
            .sql("SELECT COUNT(*) FROM delayqueue_journal WHERE queue_name = ? AND message_id = ? AND accepted = TRUE")
            .param(this.queue)
            .param(id)
            .query(Long.class)
            .single();
    }

    private long number(String expression) {
        return shop.jdbc()
            .sql("SELECT " + expression + " FROM delayqueue_journal WHERE queue_name = ? AND message_id = '1'")
            .param(this.queue)
            .query(Long.class)
            .single();
    }

}
