package io.delayqueue.integration.startup;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.store.routing.UnconsumedQueueCheck;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A mistyped name, on a real Redis: found by every node, and only if no other consumes.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class UnconsumedQueueIntegrationTests {

    private static final String MISTYPED = OrderHandler.QUEUE + "s";

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications();

    @ParameterizedTest
    @ValueSource(strings = { "lettuce", "jedis" })
    void aMistypedNameShowsInTheLogAndInHealthWhichStaysUp(String client, CapturedOutput output) {
        Application node = this.applications.withHandler(this.redis, "spring.data.redis.client-type=" + client);
        sendDueLongAgo(node.queue(), MISTYPED);
        awaitReport(node);

        assertThat(search(node)).containsOnlyKeys(MISTYPED);
        Applications.awaitTrue("the line",
                () -> LogCount.of(output, "Queue '" + MISTYPED + "' has no consumer: 1 message due, the oldest for 1 h",
                        "A node listens to '" + OrderHandler.QUEUE + "'; was that meant?") == 1);
        Health health = node.context().getBean("delayqueueHealthIndicator", HealthIndicator.class).health();
        assertThat(health.getStatus()).isEqualTo(Status.UP);
        assertThat(health.getDetails().get("withoutConsumer").toString())
            .startsWith("{" + MISTYPED + "=1 due, the oldest for 1 h");
    }

    @Test
    void anApplicationThatOnlySendsIsNotWarnedForAQueueThatAnotherIsBehindWith(CapturedOutput output) throws Exception {
        Application sender = this.applications.withoutHandler(this.redis);
        Application handler = this.applications.withHandler(this.redis, "delayqueue.listener.concurrency=1");
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        handler.handler().does((order, delivery) -> {
            busy.countDown();
            end.await();
        });
        awaitReport(handler);
        sender.queue().send(OrderHandler.QUEUE, new OrderHandler.Order(0), Duration.ZERO);
        busy.await();
        sendDueLongAgo(sender.queue(), OrderHandler.QUEUE);

        assertThat(search(sender)).isEmpty();
        assertThat(LogCount.of(output, "has no consumer")).isZero();
        end.countDown();
    }

    /** As if it had been due for an hour. */
    private void sendDueLongAgo(DelayQueueOperations queue, String name) {
        queue.send(DelayedMessage.builder(name, new OrderHandler.Order(1)).id("late").build());
        String scheduled = this.applications.namespace() + ":{" + name + "}:scheduled";
        this.redis.commands().zincrby(scheduled, -Duration.ofHours(1).toMillis(), "late");
    }

    private static void awaitReport(Application node) {
        DelayQueueInspector inspector = node.context().getBean(DelayQueueInspector.class);
        Applications.awaitTrue("a report", () -> !inspector.nodes().isEmpty());
    }

    private static Map<String, QueueOverview> search(Application node) {
        return node.context().getBean(UnconsumedQueueCheck.class).search().join();
    }

}
