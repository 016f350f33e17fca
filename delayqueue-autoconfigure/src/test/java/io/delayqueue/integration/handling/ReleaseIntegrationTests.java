package io.delayqueue.integration.handling;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.delayqueue.DelayedMessage;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Handled;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.TcpProxy;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P12: what is given back unhandled keeps the due time of its attempt. It comes before
 * what became due later, and its lateness counts from then.
 */
@Tag("server")
class ReleaseIntegrationTests {

    private static final int BACKLOG = 8;

    private static final int CLAIMED = 3;

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    @RegisterExtension
    final Applications applications = new Applications().examined();

    @Test
    void aNodeThatStopsLeavesTheHeadOfABacklogToTheNextOne() throws Exception {
        Application sender = this.applications.withoutHandler(this.redis);
        try (TcpProxy proxy = TcpProxy.to(this.redis)) {
            Application stopping = this.applications.start(Applications.HandlerConfiguration.class,
                    Applications.at(proxy.port(), "delayqueue.listener.concurrency=" + CLAIMED,
                            "delayqueue.listener.lease=1h", "delayqueue.command-timeout=60s"));
            stopping.listener().pause();
            List<Instant> due = sendBacklog(sender);
            // The answer to the claim is on its way when the stop begins.
            proxy.holdReplies(Duration.ofMillis(1500));
            stopping.listener().resume();
            Applications.awaitTrue("some are claimed", () -> sender.queue().statistics("orders").leased() == CLAIMED);
            CompletableFuture<Void> stop = CompletableFuture.runAsync(stopping.worker()::stop);
            Applications.awaitTrue("it stops", () -> !stopping.listener().isRunning());
            proxy.pass();
            stop.get();
            Instant stopped = Applications.timeOf(this.redis.commands());

            Application next = this.applications.withHandler(this.redis, "delayqueue.listener.concurrency=1");
            List<Handled> handled = new ArrayList<>();
            for (int i = 0; i < BACKLOG; i++) {
                handled.add(next.handler().next());
            }
            assertThat(handled).extracting(Handled::number)
                .containsExactlyElementsOf(IntStream.range(0, BACKLOG).boxed().toList());
            assertThat(handled).extracting((each) -> each.delivery().dueAt()).containsExactlyElementsOf(due);
            assertThat(handled).allSatisfy((each) -> {
                assertThat(each.delivery().attempt()).isEqualTo(1);
                assertThat(each.delivery().lateness())
                    .isGreaterThan(Duration.between(each.delivery().dueAt(), stopped));
            });
            assertThat(next.listener().lateness().get("orders").firstKey()).isGreaterThan(1_000_000L);
            this.applications.assertNoKeysLeft(this.redis);
            assertThat(stopping.handler().rest()).isEmpty();
            this.applications.close();
        }
    }

    @Test
    void aMessageReleasedWithoutADelayIsReceivedNext() throws Exception {
        Application receiver = this.applications.withoutHandler(this.redis);
        List<Instant> due = sendBacklog(receiver);

        ReceivedMessage first = receiver.queue().receive("orders", Applications.TIMEOUT).orElseThrow();
        assertThat(first.release(Duration.ZERO)).isTrue();

        for (int i = 0; i < BACKLOG; i++) {
            ReceivedMessage next = receiver.queue().receive("orders", Applications.TIMEOUT).orElseThrow();
            assertThat(next.dueAt()).isEqualTo(due.get(i));
            assertThat(next.attempt()).isEqualTo(1);
            assertThat(next.acknowledge()).isTrue();
        }
    }

    /** Messages that are due by now, each a millisecond after the one before. */
    private List<Instant> sendBacklog(Application sender) {
        Instant first = Applications.timeOf(this.redis.commands()).plusMillis(100);
        List<Instant> due = new ArrayList<>();
        for (int i = 0; i < BACKLOG; i++) {
            due.add(sender.queue()
                .send(DelayedMessage.builder("orders", new Order(i)).dueAt(first.plusMillis(i)).build())
                .dueAt());
        }
        Applications.awaitTrue("all are due", () -> sender.queue().statistics("orders").due() == BACKLOG);
        return due;
    }

}
