package io.delayqueue.integration.handling;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.PauseResult;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.ResumeResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** P3, P10: a paused queue, with several nodes on a real Redis. */
@Tag("server")
class PauseIntegrationTests {

    private static final String QUEUE = OrderHandler.QUEUE;

    private static final String TWO = "delayqueue.queues." + QUEUE + ".partitions=2";

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications().examined();

    private Application node() {
        return this.applications.withHandler(this.redis, TWO, Applications.NO_SAFETY_POLL);
    }

    private static List<DelayedMessage> dueNow(int count) {
        return IntStream.range(0, count)
            .mapToObj((number) -> DelayedMessage.builder(QUEUE, new Order(number)).id("order-" + number).build())
            .toList();
    }

    @Test
    void aPauseHoldsOnEveryNodeAndAcrossRestartsUntilItIsEnded() {
        Application first = node();
        Application second = node();
        first.queue().send(QUEUE, new Order(0), Duration.ofHours(1)); // knows the queue
        DelayQueueOperations queue = second.queue();
        assertThat(queue.pause(QUEUE)).isEqualTo(new PauseResult(QUEUE, false, null));

        assertThat(first.queue().sendAll(dueNow(10))).extracting(SendResult::outcome)
            .containsOnly(SendOutcome.SCHEDULED);
        second.close();
        Application third = node();
        assertThat(third.queue().receive(QUEUE, Duration.ofMillis(100))).isEmpty();
        assertThat(third.queue().statistics(QUEUE).due()).isEqualTo(10);
        assertThat(first.handler().rest()).isEmpty();
        assertThat(third.handler().rest()).isEmpty();

        assertThat(third.queue().resume(QUEUE)).isEqualTo(ResumeResult.RESUMED);
        Applications
            .await(() -> assertThat(first.handler().rest().size() + third.handler().rest().size()).isEqualTo(10));
    }

    @Test
    void aPauseWithAnEndIsOverByItselfAndWorkersPollAtOnce() throws InterruptedException {
        Application node = node();
        PauseResult pause = node.queue().pause(QUEUE, Duration.ofMillis(500));
        node.queue().send(QUEUE, new Order(1), Duration.ZERO);

        node.handler().next().assertNotBefore(pause.until());
    }

    @Test
    void aReceiveCallThatWaitsIsWokenByTheResumption() throws Exception {
        Application sender = this.applications.withoutHandler(this.redis, TWO, Applications.NO_SAFETY_POLL);
        sender.queue().pause(QUEUE);
        sender.queue().sendAll(dueNow(1));
        CompletableFuture<Optional<ReceivedMessage>> waiting = CompletableFuture
            .supplyAsync(() -> sender.queue().receive(QUEUE, Duration.ofHours(1)));
        String channels = this.applications.namespace() + ":{" + QUEUE + "*}:wake";
        Applications.awaitTrue("it listens to both", () -> this.redis.commands().pubsubChannels(channels).size() == 2);

        sender.queue().resume(QUEUE);

        assertThat(waiting.get(1, TimeUnit.MINUTES)).isPresent();
    }

    @Test
    void aClaimOfAPausedQueueLeavesTheWakeMarkSoThatABurstOfSendsWakesOnce() {
        DelayQueueOperations queue = this.applications.withoutHandler(this.redis).queue();
        String mark = this.applications.namespace() + ":{" + QUEUE + "}:wake";
        queue.pause(QUEUE);
        queue.send(QUEUE, new Order(1), Duration.ofHours(1));
        String before = this.redis.commands().get(mark);

        queue.receive(QUEUE, Duration.ZERO);

        assertThat(this.redis.commands().get(mark)).isNotNull().isEqualTo(before);
    }

}
