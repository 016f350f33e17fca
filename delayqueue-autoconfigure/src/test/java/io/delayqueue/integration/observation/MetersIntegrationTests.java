package io.delayqueue.integration.observation;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.SendResult;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** Each meter after known traffic, on a real Redis. */
@Tag("server")
class MetersIntegrationTests {

    private static final String QUEUE = OrderHandler.QUEUE;

    private static final Duration LATER = Duration.ofHours(1);

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications();

    private final Application application = this.applications.withHandler(this.redis,
            "delayqueue.metrics.interval=100ms", "delayqueue.listener.backoff.initial=1ms");

    private final MeterRegistry meters = this.application.context().getBean(MeterRegistry.class);

    @Test
    void sendsAreCountedByOutcome() throws Exception {
        CountDownLatch resume = new CountDownLatch(1);
        this.application.handler().does((order, delivery) -> resume.await());
        send(message(1).id("one"));
        send(message(2).id("later").delay(LATER));
        send(message(3).id("later").delay(LATER));
        send(message(4).id("later").delay(LATER).onDuplicate(OnDuplicate.REPLACE));
        this.application.handler().next();
        send(message(5).id("one").delay(LATER).onDuplicate(OnDuplicate.AFTER_CURRENT));
        resume.countDown();
        this.application.queue().sendAll(List.of(message(6).delay(LATER).build(), message(7).delay(LATER).build()));
        this.application.queue().sendAsync(message(8).delay(LATER).build()).get(1, TimeUnit.MINUTES);

        assertThat(sent("scheduled")).isEqualTo(5);
        assertThat(sent("kept")).isOne();
        assertThat(sent("replaced")).isOne();
        assertThat(sent("after_current")).isOne();
        assertThat(count("delayqueue.send.failures")).isZero();

        this.application.queue().cancel(QUEUE, "later");
        this.application.queue().cancel(QUEUE, "later");
        assertThat(count("delayqueue.cancelled")).isOne();
    }

    @Test
    void whatHandlersDoIsCountedAndTimed() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        this.application.handler().does((order, delivery) -> {
            if (calls.incrementAndGet() == 1) {
                throw new IllegalStateException("once");
            }
            if (order.number() == 2) {
                delivery.deadLetter("no use");
            }
        });
        send(message(1));
        this.application.handler().next();
        this.application.handler().next();
        send(message(2));
        this.application.handler().next();

        Applications.await(() -> assertThat(count("delayqueue.dead.lettered")).isOne());
        assertThat(count("delayqueue.retried")).isOne();
        assertThat(handled("failure")).isOne();
        assertThat(handled("success")).isEqualTo(2);
        assertThat(handled("timeout")).isZero();
        Timer lateness = this.meters.get("delayqueue.lateness").tags("queue", QUEUE, "listener", "orders").timer();
        assertThat(lateness.count()).isEqualTo(3);
        assertThat(lateness.max(TimeUnit.SECONDS)).isPositive();
        for (String script : List.of("send", "claim", "retry", "dead-letter")) {
            assertThat(this.meters.get("delayqueue.redis.calls")
                .tags("script", script, "outcome", "success")
                .timer()
                .count()).as(script).isPositive();
        }
    }

    @Test
    void expiredAndRedeliveredMessagesAreCounted() throws Exception {
        this.application.listener().pause();
        send(message(2));
        // Its lease runs out unsettled.
        ReceivedMessage received = this.application.queue().receive(QUEUE, Applications.TIMEOUT).orElseThrow();
        this.redis.commands()
            .zadd("%s:{%s}:leased".formatted(this.applications.namespace(), QUEUE), redisTime().toEpochMilli() * 1000.0,
                    received.id());
        SendResult sent = this.application.queue().send(message(1).timeToLive(Duration.ofMillis(1)).build());
        Applications.await(() -> assertThat(redisTime()).isAfterOrEqualTo(sent.dueAt().plus(Duration.ofMillis(1))));
        this.application.listener().resume();

        assertThat(this.application.handler().next().number()).isEqualTo(2);
        Applications.await(() -> assertThat(count("delayqueue.expired")).isOne());
        assertThat(count("delayqueue.redelivered")).isOne();
    }

    @Test
    void settlementsThatAreTurnedAwayAreCounted() throws Exception {
        this.application.handler()
            .does((order, delivery) -> this.redis.commands()
                .del(this.applications.keys(this.redis).toArray(String[]::new)));
        send(message(1));

        Applications.await(() -> assertThat(count("delayqueue.lease.lost")).isOne());
    }

    @Test
    void gaugesReportWhatTheQueueHolds() throws Exception {
        CountDownLatch resume = new CountDownLatch(1);
        this.application.handler().does((order, delivery) -> {
            if (order.number() == 1) {
                delivery.deadLetter("no use");
            }
            else {
                resume.await();
            }
        });
        send(message(1));
        send(message(2));
        this.application.handler().next();
        this.application.handler().next();
        this.application.listener().pause();
        send(message(3));
        send(message(4).delay(LATER));

        Applications.await(() -> {
            assertThat(gauge("delayqueue.messages.dead")).isOne();
            assertThat(gauge("delayqueue.messages.leased")).isOne();
            assertThat(gauge("delayqueue.messages.due")).isOne();
            assertThat(gauge("delayqueue.messages.scheduled")).isEqualTo(2);
            assertThat(gauge("delayqueue.oldest.due.age")).isPositive();
            assertThat(gauge("delayqueue.handlers.available")).isEqualTo(9);
            assertThat(gauge("delayqueue.paused")).isZero();
            assertThat(gauge("delayqueue.wakeups.subscribed")).isOne();
        });
        assertThat(this.meters.get("delayqueue.clock.jumps").functionCounter().count()).isZero();
        resume.countDown();

        this.application.queue().pause(QUEUE);
        Applications.await(() -> assertThat(gauge("delayqueue.paused")).isOne());
        this.application.listener().stop();
        assertThat(gauge("delayqueue.handlers.available")).as("of nobody who could be busy").isNaN();
        assertThat(gauge("delayqueue.wakeups.subscribed")).as("of a listener that is stopped").isNaN();
    }

    private Instant redisTime() {
        List<String> time = this.redis.commands().time();
        return Instant.ofEpochSecond(Long.parseLong(time.get(0))).plus(Long.parseLong(time.get(1)), ChronoUnit.MICROS);
    }

    private void send(DelayedMessage.Builder message) {
        this.application.queue().send(message.build());
    }

    private static DelayedMessage.Builder message(int number) {
        return DelayedMessage.builder(QUEUE, new Order(number));
    }

    private double sent(String outcome) {
        return this.meters.get("delayqueue.sent").tags("queue", QUEUE, "outcome", outcome).counter().count();
    }

    private double count(String name) {
        Counter counter = this.meters.get(name).tag("queue", QUEUE).counter();
        return counter.count();
    }

    private long handled(String outcome) {
        return this.meters.get("delayqueue.handled")
            .tags("queue", QUEUE, "listener", OrderHandler.LISTENER, "outcome", outcome)
            .timer()
            .count();
    }

    private double gauge(String name) {
        return this.meters.get(name).tag("queue", QUEUE).gauge().value();
    }

}
