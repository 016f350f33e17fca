package io.delayqueue.test;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.DelayedMessage;
import io.delayqueue.test.TestListener.Call;
import io.delayqueue.test.TestListener.Order;
import org.junit.jupiter.api.Test;

import static io.delayqueue.test.TestListener.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;

/** Verifies that messages are delivered twice where a test asks for it. */
abstract class DeliverTwiceCases extends TesterCase {

    @Test
    @DeliverTwice
    void secondDeliveryIsAtTheSameTimeAndCountsNoLapse() {
        AtomicInteger lapses = new AtomicInteger();
        this.listener.on("order-1", (order, delivery) -> lapses.addAndGet(delivery.lapses()));
        send("order-1", Duration.ofMinutes(30));

        assertThat(this.tester.advance(Duration.ofHours(1))).hasSucceeded(1).hasNoOthers();

        Call call = new Call(ORDERS, "order-1", 1, at(Duration.ofMinutes(30)), Duration.ZERO, true);
        assertThat(this.listener.calls).containsExactly(call, call);
        assertThat(lapses).hasValue(0);
    }

    @Test
    @DeliverTwice
    void eachAttemptIsDeliveredTwiceAndItsSecondOutcomeCounts() {
        this.listener.on("order-1", (order, delivery) -> {
            if (delivery.attempt() == 1) {
                throw new IllegalStateException("the first attempt fails");
            }
        });
        send("order-1", Duration.ZERO);

        assertThat(this.tester.advance(Duration.ofMinutes(1))).hasRetried(1).hasSucceeded(1).hasNoOthers();

        assertThat(this.listener.calls).extracting(Call::attempt).containsExactly(1, 1, 2, 2);
    }

    @Test
    @DeliverTwice
    void performAndRunNextDeliverTwice() {
        assertThat(this.tester.perform("serial", Order.of(1))).hasSucceeded(1).hasNoOthers();
        assertThat(this.listener.calls).hasSize(2);

        send("order-1", Duration.ofDays(1));
        assertThat(this.tester.runNext(ORDERS)).hasSucceeded(1).hasNoOthers();
        assertThat(this.listener.calls).hasSize(4);
    }

    @Test
    @DeliverTwice
    void messagesOfOneGroupKeepTheirOrder() {
        for (int i = 1; i <= 3; i++) {
            this.queue.send(DelayedMessage.builder(ORDERS, Order.of(i))
                .id("order-" + i)
                .group("g")
                .delay(Duration.ofSeconds(i))
                .build());
        }

        assertThat(this.tester.advance(Duration.ofSeconds(3))).hasSucceeded(3).hasNoOthers();

        assertThat(this.listener.ids()).containsExactly("order-1", "order-1", "order-2", "order-2", "order-3",
                "order-3");
    }

    @Test
    void messageIsDeliveredOnceOtherwise() {
        send("order-1", Duration.ZERO);

        this.tester.drain();

        assertThat(this.listener.ids()).containsExactly("order-1");
    }

}
