package io.delayqueue.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.Delivery;
import io.delayqueue.test.HandlerFormTests.BatchListener;
import io.delayqueue.test.HandlerFormTests.ValidatingListener;
import io.delayqueue.test.autoconfigure.DelayQueueTest;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Positive;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/** Verifies virtual time with handlers that receive batches, and validated payloads. */
@DelayQueueTest
@Import({ BatchListener.class, ValidatingListener.class })
class HandlerFormTests extends TesterCase {

    private static final String BATCHES = "batches";

    @Autowired
    private BatchListener batches;

    @BeforeEach
    void send() {
        this.batches.seen.clear();
        this.batches.failing = "";
        this.queue.sendAll(Stream.of("a", "b", "c")
            .map((id) -> DelayedMessage.builder(BATCHES, id).id(id).delay(Duration.ofMinutes(30)).build())
            .toList());
    }

    @Test
    void deliversABatchWhenItsMessagesAreDue() {
        assertThat(this.tester.advance(Duration.ofMinutes(29))).isEmpty();

        assertThat(this.tester.advance(Duration.ofMinutes(1))).hasSucceeded(3).hasNoOthers();
        assertThat(this.batches.seen).containsExactly("[a, b, c]");
    }

    @Test
    void retriesOneMessageOfABatch() {
        this.batches.failing = "b";

        Deliveries deliveries = this.tester.advance(Duration.ofMinutes(31));

        assertThat(deliveries).hasSucceeded(3).hasRetried(1).hasNoOthers();
        assertThat(this.batches.seen).containsExactly("[a, b, c]", "[b]");
    }

    @Test
    void movesTimeWhileABatchIsHandled() {
        Deliveries deliveries = this.tester.whileHandling("b").advance(Duration.ofHours(1));

        assertThat(deliveries).hasSucceeded(3).hasNoOthers();
        assertThat(this.batches.seen).containsExactly("[a, b, c]");
    }

    @Test
    void failsABatch() {
        this.tester.failNext(BATCHES, new IllegalStateException("not now"));

        assertThat(this.tester.advance(Duration.ofMinutes(31))).hasSucceeded(3).hasRetried(3).hasNoOthers();
    }

    @Test
    void losesTheLeaseOfOneMessageOfABatch() {
        this.tester.loseLease("b");

        this.tester.advance(Duration.ofMinutes(31));
        assertThat(this.batches.seen).containsExactly("[a, b, c]", "[b]");
    }

    /** The slice includes validation. */
    @Test
    void payloadThatIsNotValidIsADeadLetterAtOnce() {
        this.queue.send("validated", "order-1", new Validated(0), Duration.ofMinutes(30));

        assertThat(this.tester.advance(Duration.ofMinutes(30)).of("validated")).hasDead(1).hasNoOthers();
        assertThat(this.tester.queue("validated")).hasDeadLetter("order-1").causedBy("The payload is not valid");
    }

    /** Holds a payload. */
    record Validated(@Positive long number) {
    }

    static class ValidatingListener {

        @DelayedListener("validated")
        void handle(@Valid Validated payload) {
        }

    }

    static class BatchListener {

        final List<String> seen = new ArrayList<>();

        private String failing = "";

        @DelayedListener(queues = BATCHES, batch = true)
        void handle(List<String> payloads, List<Delivery> deliveries) {
            this.seen.add(payloads.toString());
            deliveries.stream()
                .filter((delivery) -> delivery.id().equals(this.failing) && delivery.attempt() == 1)
                .forEach((delivery) -> delivery.fail(new IllegalStateException("the first attempt fails")));
        }

    }

}
