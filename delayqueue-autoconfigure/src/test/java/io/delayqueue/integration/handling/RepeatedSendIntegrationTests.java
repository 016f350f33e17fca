package io.delayqueue.integration.handling;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * P8: a send with an id of the caller's whose effect is unknown can be repeated while the
 * queue holds the message, waiting or being handled, and the message is handled once.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class RepeatedSendIntegrationTests {

    private static final DelayedMessage MESSAGE = DelayedMessage.builder("orders", new Order(1))
        .id("the-order")
        .build();

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    private final CountDownLatch go = new CountDownLatch(1);

    @RegisterExtension
    final Applications applications = new Applications().examined();

    private TcpProxy proxy;

    private Application worker;

    private Application sender;

    @BeforeEach
    void start() {
        this.proxy = TcpProxy.to(this.redis);
        this.worker = this.applications.withHandler(this.redis);
        this.worker.handler().does((order, delivery) -> this.go.await());
        this.sender = this.applications.start(Applications.SenderConfiguration.class,
                Applications.at(this.proxy.port(), "delayqueue.command-timeout=1s"));
        // So that Redis knows the scripts, and the queue is registered.
        DelayedMessage warmUp = MESSAGE.toBuilder().id("warm-up").delay(Duration.ofHours(1)).priority(3).build();
        // The time limit is short, so a stall of the machine may fail a call.
        Applications.await(() -> this.sender.queue().send(warmUp.toBuilder().priority(4).build()));
        Applications.await(() -> this.sender.queue().send(warmUp));
        Applications.await(() -> this.sender.queue().cancel("orders", "warm-up"));
    }

    @AfterEach
    void stop() {
        this.go.countDown();
        this.proxy.pass();
        this.applications.close();
        this.proxy.close();
    }

    @Test
    void aSendWhoseReplyWasLostIsHandledOnceWhenItIsRepeatedWhileItIsHandled() throws Exception {
        this.proxy.loseReplyTo("the-order");
        assertEffectIsUnknown();

        repeatWhileItIsHandled();
    }

    @Test
    void aSendThatTimedOutIsHandledOnceWhenItIsRepeatedWhileItIsHandled() throws Exception {
        // The request arrives in time, and its reply does not.
        this.proxy.delay(Duration.ofMillis(700));
        assertEffectIsUnknown();

        repeatWhileItIsHandled();
    }

    /** For every form of a send, and any number of repetitions. */
    @Test
    void aHandlerThatIsKeptOutByItsOwnMessageIsWarnedOfOnce(CapturedOutput output) throws Exception {
        DelayQueueOperations queue = this.worker.queue();
        List<SendOutcome> outcomes = new CopyOnWriteArrayList<>();
        this.worker.handler().does((order, delivery) -> {
            DelayedMessage own = MESSAGE.toBuilder().id(delivery.id()).build();
            switch (order.number()) {
                case 1 -> outcomes.add(queue.sendAsync(own).join().outcome());
                case 2 -> outcomes.add(queue.send(own).outcome());
                default -> queue.sendAll(List.of(own)).forEach((result) -> outcomes.add(result.outcome()));
            }
        });
        for (int number = 1; number <= 3; number++) {
            queue.send("orders", new Order(number), Duration.ZERO);
        }
        for (int number = 1; number <= 3; number++) {
            this.worker.handler().next();
        }

        this.applications.assertNoKeysLeft(this.redis);
        assertThat(outcomes).containsExactly(SendOutcome.KEPT, SendOutcome.KEPT, SendOutcome.KEPT);
        assertThat(LogCount.of(output, "WARN", "queue 'orders' sent the id of its own message",
                "OnDuplicate.AFTER_CURRENT"))
            .isEqualTo(1);
        assertThat(this.worker.handler().rest()).isEmpty();
    }

    @Test
    void aHandlerThatFollowsItsOwnMessageIsHandledAgainAndNotWarnedOf(CapturedOutput output) throws Exception {
        this.worker.handler().does((order, delivery) -> {
            if (order.number() < 3) {
                this.worker.queue()
                    .send(DelayedMessage.builder("orders", new Order(order.number() + 1))
                        .id(delivery.id())
                        .onDuplicate(OnDuplicate.AFTER_CURRENT)
                        .delay(Duration.ofMillis(10))
                        .build());
            }
        });
        this.worker.queue().send(MESSAGE);

        for (int number = 1; number <= 3; number++) {
            assertThat(this.worker.handler().next().number()).isEqualTo(number);
        }
        this.applications.assertNoKeysLeft(this.redis);
        assertThat(LogCount.of(output, "WARN", "sent the id of its own message")).isZero();
    }

    /** A repetition by another caller is the case for KEEP. */
    @Test
    void aSendByAnotherThreadThanTheHandlersIsNotWarnedOf(CapturedOutput output) throws Exception {
        this.worker.queue().send(MESSAGE);
        this.worker.handler().next();

        assertThat(this.worker.queue().send(MESSAGE).outcome()).isEqualTo(SendOutcome.KEPT);

        this.go.countDown();
        this.applications.assertNoKeysLeft(this.redis);
        assertThat(LogCount.of(output, "WARN", "sent the id of its own message")).isZero();
    }

    private void assertEffectIsUnknown() {
        assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> this.sender.queue().send(MESSAGE))
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN));
    }

    private void repeatWhileItIsHandled() throws Exception {
        this.worker.handler().next();
        this.proxy.pass();

        Applications.await(() -> {
            SendResult repeated = this.sender.queue().send(MESSAGE);
            assertThat(repeated.outcome()).isEqualTo(SendOutcome.KEPT);
            assertThat(repeated.dueAt()).isBeforeOrEqualTo(Applications.timeOf(this.redis.commands()));
        });
        this.go.countDown();

        this.applications.assertNoKeysLeft(this.redis);
        assertThat(this.worker.handler().rest()).isEmpty();
    }

}
