package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.QueueName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that expired messages are reported immediately, and then once a minute. */
class ExpiredMessagesLogTests {

    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private final ExpiredMessagesLog summary = new ExpiredMessagesLog();

    @ParameterizedTest
    @ValueSource(longs = { 0, Long.MAX_VALUE - 10, Long.MIN_VALUE })
    void reportsAtOnceAndThenOnceAMinute(long start) {
        assertThat(this.summary.take(start)).isZero();
        this.summary.add(3);
        assertThat(this.summary.take(start)).isEqualTo(3);
        assertThat(this.summary.take(start)).isZero();
        this.summary.add(2);
        this.summary.add(4);
        assertThat(this.summary.take(start + MINUTE - 1)).isZero();
        assertThat(this.summary.take(start + MINUTE)).isEqualTo(6);
        assertThat(this.summary.take(start + 5 * MINUTE)).isZero();
        this.summary.add(1);
        assertThat(this.summary.take(start + 5 * MINUTE)).isOne();
    }

    @Test
    void logsEverythingAtTheEnd() {
        this.summary.add(1);
        this.summary.take(0);
        this.summary.add(5);

        assertThat(this.summary.takeAll()).isEqualTo(5);
        assertThat(this.summary.takeAll()).isZero();
    }

    @Test
    void namesWhetherTheyWereDroppedOrDeadLettered() {
        QueueName queue = new QueueName("orders");
        assertThat(this.summary.text(1, queue, ExpiryPolicy.DROP))
            .startsWith("Expired and dropped: 1 message of queue 'orders'; further");
        assertThat(this.summary.text(20, queue, ExpiryPolicy.DEAD_LETTER))
            .startsWith("Expired and made dead letters: 20 messages of queue 'orders'; further");
    }

    @Test
    void namesOneMessageOfThoseThatItReports() {
        QueueName queue = new QueueName("orders");
        this.summary.note("a");
        this.summary.note("b");
        assertThat(this.summary.text(1, queue, ExpiryPolicy.DEAD_LETTER)).contains("'orders' ('a');");
        this.summary.note("b");
        assertThat(this.summary.text(2, queue, ExpiryPolicy.DEAD_LETTER)).contains("'orders' ('b' is one of them);");
    }

    @Test
    void keepsQueuesApartAndReportsTheRestWithAnyLaterClaim() {
        AtomicLong clock = new AtomicLong();
        ExpiredMessagesLogs summaries = new ExpiredMessagesLogs(clock::get);
        QueueName orders = new QueueName("orders");
        assertThat(summaries.add(orders, claim(), ExpiryPolicy.DEAD_LETTER)).isNull();
        assertThat(summaries.add(orders, claim("a"), ExpiryPolicy.DEAD_LETTER)).contains("1 message", "'a'");
        assertThat(summaries.add(orders, claim("b", "c"), ExpiryPolicy.DEAD_LETTER)).isNull();
        assertThat(summaries.add(new QueueName("bills"), claim("d"), ExpiryPolicy.DEAD_LETTER)).contains("'d'");
        clock.set(MINUTE);
        assertThat(summaries.add(orders, claim(), ExpiryPolicy.DEAD_LETTER)).contains("2 messages", "'b'");
    }

    private static ClaimResult claim(String... expired) {
        List<DeadLetterEvent> deadLetters = Stream.of(expired)
            .map((id) -> new DeadLetterEvent("orders", id, id + "~1", 0, "expired"))
            .toList();
        return new ClaimResult(List.of(), Instant.EPOCH, null, deadLetters.size(), deadLetters);
    }

}
