package io.delayqueue.test;

import java.time.Duration;
import java.util.List;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetter;
import io.delayqueue.DelayedMessage;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.RedriveResult;
import io.delayqueue.test.TestListener.Order;
import org.junit.jupiter.api.Test;

import static io.delayqueue.test.TestListener.EXPIRING;
import static io.delayqueue.test.TestListener.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;

/** Verifies that lease tokens and ids of dead letters are unique while time stands. */
abstract class TokenCases extends TesterCase {

    /** A queue without listener. */
    private static final String RECEIVED = "received";

    @Test
    void leaseOfAMessageThatWasSentAgainHasAnotherToken() {
        for (int round = 0; round < 20; round++) {
            this.queue.send(RECEIVED, "order-1", Order.of(1), Duration.ZERO);
            ReceivedMessage old = receive();
            assertThat(old.release(Duration.ZERO)).isTrue();
            assertThat(this.queue.cancel(RECEIVED, "order-1")).isEqualTo(CancelResult.CANCELLED);
            this.queue.send(RECEIVED, "order-1", Order.of(2), Duration.ZERO);
            ReceivedMessage current = receive();

            assertThat(old.acknowledge()).isFalse();
            assertThat(old.release(Duration.ZERO)).isFalse();
            assertThat(current.acknowledge()).isTrue();
        }
        assertThat(this.tester.now()).isEqualTo(this.start);
    }

    @Test
    void leaseAfterARedriveHasAnotherToken() {
        this.queue.send(RECEIVED, "order-1", Order.of(1), Duration.ZERO);
        ReceivedMessage old = receive();
        old.deadLetter("not wanted");
        String deadLetter = deadLetters(RECEIVED).get(0).id();
        assertThat(this.queue.deadLetters(RECEIVED).redrive(deadLetter)).isEqualTo(RedriveResult.REDRIVEN);
        ReceivedMessage current = receive();

        assertThat(old.acknowledge()).isFalse();
        assertThat(current.acknowledge()).isTrue();
    }

    private ReceivedMessage receive() {
        return this.queue.receive(RECEIVED, Duration.ZERO).orElseThrow();
    }

    @Test
    void deadLettersOfOneIdAtOneTimeAreDistinct() {
        this.listener.on("order-1", (order, delivery) -> delivery.deadLetter("not wanted"));
        for (int i = 0; i < 3; i++) {
            this.queue.send(ORDERS, "order-1", Order.of(i), Duration.ZERO);
            assertThat(this.tester.drain()).hasDead(1).hasNoOthers();
        }

        assertThat(deadLetters(ORDERS)).hasSize(3)
            .extracting(DeadLetter::payload)
            .containsExactlyInAnyOrder("{\"number\":0,\"note\":null}", "{\"number\":1,\"note\":null}",
                    "{\"number\":2,\"note\":null}");
        assertThat(this.tester.now()).isEqualTo(this.start);
    }

    /** Time to live begins at the due time, so two of one id are a millisecond apart. */
    @Test
    void messageThatExpiresAgainIsAnotherDeadLetter() {
        for (int i = 0; i < 3; i++) {
            this.queue.send(DelayedMessage.builder(EXPIRING, Order.of(i))
                .id("order-1")
                .timeToLive(Duration.ofMillis(1))
                .build());
            this.queue.pause(EXPIRING, Duration.ofMillis(1));
            assertThat(this.tester.advance(Duration.ofMillis(1))).hasExpired(1).hasNoOthers();
        }

        assertThat(deadLetters(EXPIRING)).hasSize(3).extracting(DeadLetter::reason).containsOnly("expired");
    }

    private List<DeadLetter> deadLetters(String queue) {
        return this.queue.deadLetters(queue).list(null, 10).deadLetters();
    }

}
