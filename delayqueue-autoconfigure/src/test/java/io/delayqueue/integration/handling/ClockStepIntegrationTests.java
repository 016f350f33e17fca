package io.delayqueue.integration.handling;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.delayqueue.Delivery;
import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.SteppedClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Redis' clock is set by an hour while messages wait and are handled: nothing is lost, P5
 * holds, and the exceptions of P2 and P4 for such a clock are as documented.
 */
@Tag("faults")
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class ClockStepIntegrationTests {

    private static final Duration HOUR = Duration.ofHours(1);

    private SteppedClock clock;

    private RedisServer redis;

    @RegisterExtension
    final Applications applications = new Applications();

    @BeforeEach
    void start() {
        this.clock = new SteppedClock();
        this.redis = RedisServer.start(RedisBinary.REDIS_6_2, this.clock);
    }

    @AfterEach
    void stop() {
        this.applications.close();
        // Without libfaketime there is none, and the test is skipped.
        if (this.redis != null) {
            this.redis.close();
        }
    }

    @Test
    void aStepForwardMakesMessagesEarlyAndEndsLeases(CapturedOutput output) throws Exception {
        Application application = this.applications.withHandler(this.redis, "delayqueue.safety-poll=500ms");
        BlockingQueue<Delivery> begun = new LinkedBlockingQueue<>();
        CountDownLatch go = new CountDownLatch(1);
        application.handler().does((order, delivery) -> {
            if (order.number() == 1) {
                begun.add(delivery);
                go.await();
            }
        });
        application.queue().send("orders", new Order(1), Duration.ZERO);
        Delivery first = begun.poll(1, TimeUnit.MINUTES);
        application.handler().next();
        Instant due = application.queue().send("orders", new Order(2), HOUR).dueAt();
        Instant before = storeTime();

        this.clock.step(HOUR);

        // The message is due, and the lease of the other one over: it is claimed once
        // more, and its earlier holder is fenced.
        Delivery second = begun.poll(1, TimeUnit.MINUTES);
        Applications.await(() -> assertThat(application.handler().rest()).extracting((handled) -> handled.number())
            .containsExactlyInAnyOrder(1, 2));
        assertThat(application.handler().rest())
            .allSatisfy((handled) -> assertThat(handled.at()).isAfterOrEqualTo(due));
        assertThat(storeTime()).isAfterOrEqualTo(before.plus(HOUR));
        Applications.await(() -> assertThat(first.isLeased()).isFalse());
        assertThat(second.isLeased()).isTrue();
        assertThat(application.worker().clockJumps()).isOne();
        assertThat(LogCount.of(output, "WARN", "has jumped forward by")).isOne();
        go.countDown();
        this.applications.assertNoKeysLeft(this.redis);
        Applications.await(() -> assertThat(application.listener().statistics().leasesLost()).isPositive());
    }

    /** Long before a renewal of it is due, which would be refused. */
    @Test
    void aLeaseThatAStepHasEndedIsOverHereWithTheNextClaim() throws Exception {
        Application application = this.applications.withHandler(this.redis, "delayqueue.safety-poll=500ms",
                "delayqueue.listener.lease=1h");
        BlockingQueue<Delivery> begun = new LinkedBlockingQueue<>();
        CountDownLatch go = new CountDownLatch(1);
        application.handler().does((order, delivery) -> {
            begun.add(delivery);
            go.await();
        });
        application.queue().send("orders", new Order(1), Duration.ZERO);
        Delivery first = begun.poll(1, TimeUnit.MINUTES);
        assertThat(first.isLeased()).isTrue();

        this.clock.step(HOUR.multipliedBy(2));

        Applications.await(() -> assertThat(first.isLeased()).isFalse());
        Delivery second = begun.poll(1, TimeUnit.MINUTES);
        assertThat(second.isLeased()).isTrue();
        go.countDown();
        this.applications.assertNoKeysLeft(this.redis);
    }

    @Test
    void aStepBackDelaysMessagesUntilTheNextStepForward(CapturedOutput output) throws Exception {
        Application application = this.applications.withHandler(this.redis, "delayqueue.safety-poll=500ms");
        application.queue().send("orders", new Order(1), Duration.ofSeconds(3));

        this.clock.step(HOUR.negated());
        Applications.await(() -> assertThat(application.worker().clockJumps()).isOne());
        assertThat(LogCount.of(output, "WARN", "has jumped back by")).isOne();
        Instant due = application.queue().send("orders", new Order(2), Duration.ofSeconds(4)).dueAt();
        assertThat(application.handler().next().assertNotBefore(due).number()).isEqualTo(2);
        assertThat(application.handler().rest()).isEmpty();

        this.clock.step(HOUR);
        assertThat(application.handler().next().number()).isEqualTo(1);
        Applications.await(() -> assertThat(application.worker().clockJumps()).isEqualTo(2));
        this.applications.assertNoKeysLeft(this.redis);
    }

    private Instant storeTime() {
        return Instant.ofEpochSecond(Long.parseLong(this.redis.commands().time().get(0)));
    }

}
