package io.delayqueue.test;

import java.time.Duration;

import io.delayqueue.DelayedMessage;
import io.delayqueue.test.TestListener.Order;
import io.delayqueue.test.autoconfigure.DelayQueueTest;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import static io.delayqueue.test.TestListener.ORDERS;
import static io.delayqueue.test.TestListener.SERIAL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Verifies the assertions on what a queue holds, and the table that failures print. */
@DelayQueueTest(startAt = "2026-03-01T12:00:00Z")
class QueueAssertTests extends TesterCase {

    private static final Duration HALF_AN_HOUR = Duration.ofMinutes(30);

    @Test
    void assertsAMessageThatWaits() {
        send("order-42", HALF_AN_HOUR);
        send("order-43", Duration.ZERO);

        assertThat(this.tester.queue(ORDERS)).hasScheduled("order-42")
            .dueIn(HALF_AN_HOUR)
            .dueAt(at(HALF_AN_HOUR))
            .withPayload(Order.of(1))
            .hasScheduled("order-43")
            .dueIn(Duration.ZERO)
            .doesNotHold("order-44");
        assertThat(this.tester.queue(SERIAL)).isEmpty();
    }

    @Test
    void assertsADeadLetter() {
        this.listener.on("order-1", (order, delivery) -> {
            throw new IllegalStateException("no stock", new ArithmeticException("0 left"));
        });
        send("order-1", Duration.ZERO);
        this.tester.advance(Duration.ofMinutes(1));

        assertThat(this.tester.queue(ORDERS)).hasDeadLetter("order-1")
            .causedBy(IllegalStateException.class)
            .causedBy(ArithmeticException.class)
            .causedBy("no stock")
            .withFailures(5)
            .doesNotHold("order-1");
    }

    @Test
    void failurePrintsTheQueueAsATable() {
        this.listener.on("order-1", (order, delivery) -> delivery.deadLetter("not wanted"));
        send("order-1", Duration.ZERO);
        send("order-42", HALF_AN_HOUR);
        this.queue.send(DelayedMessage.builder(ORDERS, Order.of(7)).id("a").group("g").delay(HALF_AN_HOUR).build());
        this.queue.send(DelayedMessage.builder(ORDERS, Order.of(8)).id("b").group("g").delay(HALF_AN_HOUR).build());
        this.tester.drain();

        assertFailure(() -> assertThat(this.tester.queue(ORDERS)).isEmpty(),
                """
                        Expected no messages and no dead letters, but there are:
                        queue 'orders' at 2026-03-01T12:00:00Z:
                          state        id        due at                due in  failures  payload                   cause
                          scheduled    a         2026-03-01T12:30:00Z  30 min  0         {"number":7,"note":null}
                          scheduled    order-42  2026-03-01T12:30:00Z  30 min  0         {"number":1,"note":null}
                          scheduled    b         2026-03-01T12:30:00Z  30 min  0         {"number":8,"note":null}
                          dead letter  order-1   2026-03-01T12:00:00Z          0         {"number":1,"note":null}  not wanted""");
    }

    @Test
    void failuresNameTheMessageAndTheDifference() {
        send("order-42", HALF_AN_HOUR);
        String table = """

                queue 'orders' at 2026-03-01T12:00:00Z:
                  state      id        due at                due in  failures  payload                   cause
                  scheduled  order-42  2026-03-01T12:30:00Z  30 min  0         {"number":1,"note":null}""";

        assertFailure(() -> assertThat(this.tester.queue(ORDERS)).hasScheduled("order-43"),
                "Expected message 'order-43' to wait, but the queue does not hold it:" + table);
        assertFailure(() -> assertThat(this.tester.queue(ORDERS)).doesNotHold("order-42"),
                "Expected the queue not to hold message 'order-42', but it does:" + table);
        assertFailure(() -> assertThat(this.tester.queue(ORDERS)).hasDeadLetter("order-42"),
                "Expected a dead letter of message 'order-42', but there is none:" + table);
        assertFailure(() -> assertThat(this.tester.queue(ORDERS)).hasScheduled("order-42").dueIn(Duration.ofHours(1)),
                "Expected message 'order-42' to be due in 1 h, but it is due in 30 min:" + table);
        assertFailure(() -> assertThat(this.tester.queue(ORDERS)).hasScheduled("order-42").withPayload(Order.of(2)), """
                Expected message 'order-42' to have the payload
                  {"number":2,"note":null}
                but it has
                  {"number":1,"note":null}""" + table);
        assertFailure(() -> assertThat(this.tester.queue(SERIAL)).hasScheduled("order-42"),
                "Expected message 'order-42' to wait, but the queue does not hold it:\n"
                        + "queue 'serial' at 2026-03-01T12:00:00Z: no messages, no dead letters");
    }

    @Test
    void messageInFlightDoesNotWait() {
        send("order-42", Duration.ZERO);

        this.tester.whileHandling("order-42")
            .run(() -> assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> assertThat(this.tester.queue(ORDERS)).hasScheduled("order-42"))
                .withMessageStartingWith("Expected message 'order-42' to wait, but it is in flight:"));
    }

    private static void assertFailure(ThrowingCallable assertion, String message) {
        assertThatExceptionOfType(AssertionError.class).isThrownBy(assertion).withMessage("%s", message);
    }

}
