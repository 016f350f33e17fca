package io.delayqueue.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.StoredMessage;
import io.delayqueue.test.TestListener.Call;
import io.delayqueue.test.TestListener.Order;
import org.junit.jupiter.api.Test;

import static io.delayqueue.test.TestListener.ORDERS;
import static io.delayqueue.test.TestListener.REMINDERS;
import static io.delayqueue.test.TestListener.SERIAL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Verifies how the tester moves time, and its deliveries. */
abstract class TimeCases extends TesterCase {

    @Test
    void deliversAMessageExactlyWhenItIsDue() {
        send("order-1", Duration.ofMinutes(30));

        assertThat(this.tester.advance(Duration.ofMinutes(30).minusMillis(1))).isEmpty();
        Deliveries deliveries = this.tester.advance(Duration.ofMillis(1));

        assertThat(deliveries.all()).containsExactly(
                new TestDelivery(ORDERS, "order-1", 1, at(Duration.ofMinutes(30)), DeliveryOutcome.SUCCEEDED, null));
        assertThat(this.listener.calls)
            .containsExactly(new Call(ORDERS, "order-1", 1, at(Duration.ofMinutes(30)), Duration.ZERO, true));
        assertThat(this.queue.find(ORDERS, "order-1")).isEmpty();
    }

    @Test
    void goesFromDueTimeToDueTimeOfAllQueues() {
        List<Instant> times = new ArrayList<>();
        List.of("a", "b", "c").forEach((id) -> this.listener.on(id, (order, delivery) -> times.add(this.tester.now())));
        send("b", Duration.ofDays(2));
        this.queue.send(REMINDERS, "a", Order.of(1), Duration.ofSeconds(1));
        this.queue.send(SERIAL, "c", Order.of(1), Duration.ofDays(300));

        assertThat(this.tester.advance(Duration.ofDays(365))).hasSucceeded(3).hasNoOthers();

        assertThat(this.listener.ids()).containsExactly("a", "b", "c");
        assertThat(times).containsExactly(at(Duration.ofSeconds(1)), at(Duration.ofDays(2)), at(Duration.ofDays(300)));
        assertThat(this.tester.now()).isEqualTo(at(Duration.ofDays(365)));
    }

    @Test
    void deliversWhatHandlersSend() {
        this.listener.on("first", (order, delivery) -> {
            this.queue.send(REMINDERS, "now", Order.of(2), Duration.ZERO);
            send("later", Duration.ofHours(1));
        });
        send("first", Duration.ofHours(1));

        assertThat(this.tester.advance(Duration.ofHours(1)).all()).extracting(TestDelivery::id)
            .containsExactly("first", "now");
        assertThat(this.tester.advance(Duration.ofHours(1)).all()).extracting(TestDelivery::id)
            .containsExactly("later");
    }

    @Test
    void retriesWithTheBackoffOfTheListenerAndWithoutJitter() {
        this.listener.on("order-1", (order, delivery) -> {
            throw new IllegalStateException("not yet");
        });
        send("order-1", Duration.ZERO);

        Deliveries deliveries = this.tester.advance(Duration.ofMinutes(1));

        assertThat(deliveries).hasRetried(4).hasDead(1).hasNoOthers();
        assertThat(deliveries.all()).extracting((delivery) -> Duration.between(this.start, delivery.at()))
            .containsExactly(Duration.ZERO, Duration.ofSeconds(1), Duration.ofSeconds(3), Duration.ofSeconds(7),
                    Duration.ofSeconds(15));
        assertThat(deliveries.all().get(0).cause()).contains("IllegalStateException: not yet");
    }

    @Test
    void deliversNothingByItself() {
        send("order-1", Duration.ZERO);
        assertThat(this.queue.find(ORDERS, "order-1")).map(StoredMessage::dueAt).contains(this.start);

        assertThat(this.tester.drain()).hasSucceeded(1);
        assertThat(this.tester.now()).isEqualTo(this.start);
    }

    @Test
    void drainsWhatIsDueNowAndWhatFollowsAtOnce() {
        this.listener.on("a", (order, delivery) -> send("b", Duration.ZERO));
        this.listener.on("b", (order, delivery) -> send("c", Duration.ofMillis(1)));
        send("a", Duration.ZERO);

        assertThat(this.tester.drain().all()).extracting(TestDelivery::id).containsExactly("a", "b");
        assertThat(this.tester.now()).isEqualTo(this.start);
    }

    @Test
    void advancesToAMoment() {
        send("order-1", Duration.ofMinutes(1));

        assertThat(this.tester.advanceTo(at(Duration.ofMinutes(1)))).hasSucceeded(1);
        assertThatIllegalArgumentException().isThrownBy(() -> this.tester.advanceTo(this.start))
            .withMessage("Time never goes back within a test: it is %s, so it cannot advance to %s",
                    at(Duration.ofMinutes(1)), this.start);
    }

    @Test
    void advancesByWholeMilliseconds() {
        assertThatIllegalArgumentException().isThrownBy(() -> this.tester.advance(Duration.ofNanos(1)))
            .withMessage("Time can advance by zero or more whole milliseconds, but not by PT0.000000001S");
        assertThatIllegalArgumentException().isThrownBy(() -> this.tester.advance(Duration.ofMillis(-1)));
        assertThat(this.start.getNano() % 1_000_000).isZero();
    }

    @Test
    void runsOneMessageOfOneQueue() {
        send("b", Duration.ZERO);
        send("a", Duration.ZERO);
        this.queue.send(SERIAL, "other", Order.of(1), Duration.ZERO);

        assertThat(this.tester.runNext(ORDERS).all()).extracting(TestDelivery::id).containsExactly("a");
        assertThat(this.tester.runNext(ORDERS).all()).extracting(TestDelivery::id).containsExactly("b");
        assertThat(this.tester.runNext(ORDERS)).isEmpty();
        assertThat(this.tester.drain().all()).extracting(TestDelivery::id).containsExactly("other");
    }

    @Test
    void advancesToTheNextMessageOfTheQueue() {
        send("order-1", Duration.ofHours(2));
        send("order-2", Duration.ofHours(2));
        this.queue.send(SERIAL, "before", Order.of(1), Duration.ofHours(1));
        this.queue.send(SERIAL, "beside", Order.of(1), Duration.ofHours(2));

        assertThat(this.tester.runNext(ORDERS).all()).extracting(TestDelivery::id).containsExactly("before", "order-1");
        assertThat(this.tester.now()).isEqualTo(at(Duration.ofHours(2)));
        assertThat(this.tester.drain()).hasSucceeded(2);
    }

    @Test
    void runsOneMessageIfHandlersOfOtherQueuesSendToTheQueue() {
        send("order-1", Duration.ofHours(2));
        this.queue.send(SERIAL, "before", Order.of(1), Duration.ofHours(1));
        this.listener.on("before", (order, delivery) -> {
            send("later", Duration.ofMinutes(30));
            send("at-once", Duration.ZERO);
        });

        assertThat(this.tester.runNext(ORDERS).all()).extracting(TestDelivery::id).containsExactly("before", "at-once");
        assertThat(this.tester.now()).isEqualTo(at(Duration.ofHours(1)));
        assertThat(this.tester.runNext(ORDERS).all()).extracting(TestDelivery::id).containsExactly("later");
        assertThat(this.tester.now()).isEqualTo(at(Duration.ofMinutes(90)));
    }

    @Test
    void nameOfAQueueWithoutListenerIsRejected() {
        assertThatIllegalArgumentException().isThrownBy(() -> this.tester.runNext("order"))
            .withMessageStartingWith("No running listener has queue 'order', only [");
    }

    @Test
    void performsAListenerWithOnePayload() {
        send("waiting", Duration.ZERO);

        Deliveries deliveries = this.tester.perform("serial", new Order(7, "hello"));
        assertThat(deliveries).hasSucceeded(1).hasNoOthers();
        assertThat(this.listener.calls).extracting(Call::queue).containsExactly(SERIAL);

        this.listener.reset();
        assertThat(this.tester.perform("testListener.order", Order.of(8))).hasSucceeded(1).hasNoOthers();
        assertThat(this.listener.ids()).doesNotContain("waiting");
        assertThat(this.tester.drain()).hasSucceeded(1);
    }

    @Test
    void dropsAndCountsWhatHasExpired() {
        this.queue
            .send(DelayedMessage.builder(ORDERS, Order.of(1)).id("short").timeToLive(Duration.ofSeconds(10)).build());
        this.queue.pause(ORDERS, Duration.ofMinutes(1));

        Deliveries deliveries = this.tester.advance(Duration.ofMinutes(2));

        assertThat(deliveries).hasExpired(1).hasNoOthers();
        assertThat(deliveries.all().get(0).at()).isEqualTo(at(Duration.ofMinutes(1)));
    }

    @Test
    void releasesInVirtualTime() {
        this.listener.on("order-1", (order, delivery) -> {
            if (this.listener.calls.size() < 3) {
                delivery.retryAfter(Duration.ofHours(3));
            }
        });
        send("order-1", Duration.ZERO);

        Deliveries deliveries = this.tester.advance(Duration.ofDays(1));

        assertThat(deliveries).hasReleased(2).hasSucceeded(1).hasNoOthers();
        assertThat(this.listener.calls).extracting(Call::dueAt)
            .containsExactly(this.start, at(Duration.ofHours(3)), at(Duration.ofHours(6)));
    }

    @Test
    void keepsOneAfterAnother() {
        this.listener.on("order-1", (order, delivery) -> {
            if (order.number() < 365) {
                this.queue.send(DelayedMessage.builder(ORDERS, Order.of(order.number() + 1))
                    .id("order-1")
                    .onDuplicate(OnDuplicate.AFTER_CURRENT)
                    .delay(Duration.ofDays(1))
                    .build());
            }
        });
        send("order-1", Duration.ofDays(1));

        assertThat(this.tester.advance(Duration.ofDays(365))).hasSucceeded(365).hasNoOthers();

        assertThat(this.listener.calls).extracting(Call::lateness).containsOnly(Duration.ZERO);
        assertThat(this.listener.calls.get(364).dueAt()).isEqualTo(at(Duration.ofDays(365)));
    }

    @Test
    void handlerCannotMoveTime() {
        this.listener.on("order-1",
                (order, delivery) -> assertThatIllegalStateException()
                    .isThrownBy(() -> this.tester.advance(Duration.ofDays(1)))
                    .withMessageStartingWith("A handler cannot move time"));
        send("order-1", Duration.ZERO);

        assertThat(this.tester.drain()).hasSucceeded(1).hasNoOthers();
    }

}
