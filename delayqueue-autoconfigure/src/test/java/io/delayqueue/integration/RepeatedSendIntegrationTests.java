package io.delayqueue.integration;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayedMessage;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.integration.OrderHandler.Order;
import io.delayqueue.testing.RedisBinary;
import io.delayqueue.testing.RedisServer;
import io.delayqueue.testing.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * P8: a send with an id of the caller's whose effect is unknown can be repeated while the
 * queue holds the message, waiting or being handled, and the message is handled once.
 */
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
        // So that Redis knows the scripts, and the queue is noted.
        DelayedMessage warmUp = MESSAGE.toBuilder().id("warm-up").delay(Duration.ofHours(1)).priority(3).build();
        this.sender.queue().send(warmUp.toBuilder().priority(4).build());
        this.sender.queue().send(warmUp);
        this.sender.queue().cancel("orders", "warm-up");
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
