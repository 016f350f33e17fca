package io.delayqueue.test;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.HandlerTimeoutException;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.StoredMessage;
import io.delayqueue.test.TestListener.Call;
import io.delayqueue.test.TestListener.Order;
import org.junit.jupiter.api.Test;

import static io.delayqueue.test.TestListener.ASYNC;
import static io.delayqueue.test.TestListener.ORDERS;
import static io.delayqueue.test.TestListener.REMINDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Verifies that each fault takes the way through the library that it takes in production.
 */
abstract class FaultCases extends TesterCase {

    private static final Duration LEASE = Duration.ofSeconds(30);

    @Test
    void failsTheNextHandlerWithoutCallingIt() {
        send("order-1", Duration.ZERO);
        this.tester.failNext(ORDERS, new IllegalStateException("not today"));

        Deliveries deliveries = this.tester.advance(Duration.ofSeconds(1));

        assertThat(deliveries).hasRetried(1).hasSucceeded(1).hasNoOthers();
        assertThat(deliveries.all().get(0).cause()).contains("IllegalStateException: not today");
        assertThat(this.listener.calls).extracting(Call::attempt).containsExactly(2);
    }

    @Test
    void runningHandlerLosesItsLease() {
        this.listener.on("order-1", (order, delivery) -> assertThat(delivery.isLeased()).isTrue());
        send("order-1", Duration.ofHours(1));

        Deliveries deliveries = this.tester.whileHandling("order-1").run(() -> this.tester.loseLease("order-1"));

        assertThat(deliveries).hasSucceeded(1).hasNoOthers();
        assertThat(this.listener.calls).extracting(Call::attempt).containsExactly(1, 1);
    }

    @Test
    void nextHandlerNoticesThatItsLeaseIsLost() {
        send("order-1", Duration.ZERO);
        this.tester.loseLease("order-1");

        assertThat(this.tester.drain()).hasSucceeded(1).hasNoOthers();
        assertThat(this.listener.calls).extracting(Call::leased).containsExactly(false, true);
    }

    @Test
    void messageOfACrashedProcessIsDeliveredWhenItsLeaseHasRunOut() {
        this.listener.on("order-1",
                (order, delivery) -> this.queue.send(REMINDERS, "sent", Order.of(1), Duration.ZERO));
        send("order-1", Duration.ZERO);
        this.tester.crashDuring("order-1");

        assertThat(this.tester.drain().of(ORDERS)).isEmpty();
        assertThat(this.listener.ids()).containsExactly("order-1", "sent");

        assertThat(this.tester.advance(LEASE.minusMillis(1))).isEmpty();
        assertThat(this.tester.advance(Duration.ofMillis(1)).of(ORDERS)).hasSucceeded(1).hasNoOthers();
    }

    @Test
    void storeIsUnreachableForATime() {
        send("order-1", Duration.ofSeconds(10));
        this.tester.redisAway(Duration.ofMinutes(1));

        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> send("order-2", Duration.ZERO))
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE));
        assertThat(this.tester.advance(Duration.ofSeconds(59))).isEmpty();

        Deliveries deliveries = this.tester.advance(Duration.ofMinutes(1));
        assertThat(deliveries).hasSucceeded(1).hasNoOthers();
        assertThat(deliveries.all().get(0).at()).isAfterOrEqualTo(at(Duration.ofMinutes(1)));
        send("order-2", Duration.ZERO);
        assertThat(this.tester.drain()).hasSucceeded(1);
    }

    @Test
    void nextSendFailsWithEachEffect() {
        this.tester.failNextSend(Effect.NONE);
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> send("none", Duration.ZERO))
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE));
        this.tester.failNextSend(Effect.UNKNOWN);
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> send("unknown", Duration.ZERO))
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
        this.tester.failNextSend(Effect.STORED);
        assertThatExceptionOfType(NotReplicatedException.class).isThrownBy(() -> send("stored", Duration.ZERO));
        send("sent", Duration.ZERO);

        this.tester.drain();

        assertThat(this.listener.ids()).containsExactlyInAnyOrder("unknown", "stored", "sent");
    }

    @Test
    void leaseIsRenewedWhileAHandlerRuns() {
        send("order-1", Duration.ofHours(1));

        Deliveries deliveries = this.tester.whileHandling("order-1").advance(LEASE.multipliedBy(10));

        assertThat(deliveries).hasSucceeded(1).hasNoOthers();
        assertThat(deliveries.all().get(0).at()).isEqualTo(at(Duration.ofHours(1).plus(LEASE.multipliedBy(10))));
        assertThat(this.listener.ids()).containsExactly("order-1");
    }

    /** An order and its reminder often have one id. Covers both orders of the queues. */
    @Test
    void firstToBeDueOfTheMessagesWithAnIdIsHeld() {
        send("order-1", Duration.ofMinutes(10));
        this.queue.send(REMINDERS, "order-1", Order.of(1), Duration.ofMinutes(30));
        send("order-2", Duration.ofMinutes(40));
        this.queue.send(REMINDERS, "order-2", Order.of(1), Duration.ofMinutes(20));

        for (String id : List.of("order-1", "order-2")) {
            Instant due = this.queue.find(id.equals("order-1") ? ORDERS : REMINDERS, id)
                .map(StoredMessage::dueAt)
                .orElseThrow();
            this.tester.whileHandling(id).run(() -> assertThat(this.tester.now()).isEqualTo(due));
        }
    }

    @Test
    void handlerIsInterruptedAfterItsTimeout() {
        this.queue.send(REMINDERS, "late", Order.of(1), Duration.ZERO);

        Deliveries deliveries = this.tester.whileHandling("late").advance(Duration.ofMinutes(2));

        assertThat(deliveries).hasRetried(1).hasSucceeded(1).hasNoOthers();
        assertThat(deliveries.all().get(0).at()).isEqualTo(at(Duration.ofMinutes(1)));
        assertThat(deliveries.all().get(0).cause()).contains(HandlerTimeoutException.class.getSimpleName());
    }

    @Test
    void futureIsCancelledAfterTheTimeout() {
        CompletableFuture<Object> future = new CompletableFuture<>();
        this.listener.future = future;
        this.queue.send(ASYNC, "late", Order.of(1), Duration.ZERO);

        Deliveries deliveries = this.tester.whileHandling("late").run(() -> {
            this.listener.future = CompletableFuture.completedFuture(null);
            this.tester.advance(Duration.ofMinutes(2));
        });

        assertThat(future).isCancelled();
        assertThat(deliveries).hasRetried(1).hasSucceeded(1).hasNoOthers();
    }

    @Test
    void deadLetterIsRemovedAfterItsRetention() {
        this.listener.on("order-1", (order, delivery) -> delivery.deadLetter("not wanted"));
        send("order-1", Duration.ZERO);
        this.tester.drain();
        assertThat(this.tester.queue(ORDERS)).hasDeadLetter("order-1").causedBy("not wanted");

        this.tester.advance(Duration.ofDays(29));
        assertThat(this.tester.queue(ORDERS)).hasDeadLetter("order-1");
        this.tester.advance(Duration.ofDays(2));
        assertThat(this.tester.queue(ORDERS)).isEmpty();
    }

    /** Would not end if time stopped for each poll or report in between. */
    @Test
    void safetyPollsAndUpkeepDoNotStopTime() {
        send("order-1", Duration.ofDays(365));

        assertThat(this.tester.advance(Duration.ofDays(365).multipliedBy(100))).hasSucceeded(1).hasNoOthers();
    }

}
