package io.delayqueue.integration.outage;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayedMessage;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
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
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P11 for sends that share a call which Redis does not answer: each sender gets an answer
 * of its own, and nothing is stored of those that were answered as without effect.
 */
@Tag("server")
class MergedSendOutageTests {

    private static final int SENDS = 60;

    private RedisServer redis;

    @RegisterExtension
    final Applications applications = new Applications();

    @BeforeEach
    void start() {
        this.redis = RedisServer.start(RedisBinary.preferred());
    }

    @AfterEach
    void stop() {
        this.applications.close();
        this.redis.close();
    }

    @Test
    void aCallThatIsNotAnsweredEndsForEachOfItsSenders() {
        try (TcpProxy proxy = TcpProxy.to(this.redis)) {
            Application sender = this.applications.start(Applications.SenderConfiguration.class,
                    Applications.at(proxy.port(), "delayqueue.command-timeout=5s"));
            // The first send of a process also records the queue.
            Applications.await(() -> sender.queue().send(order().id("before").build()));
            // Nothing is answered before all are sent.
            proxy.blackhole();
            // The first answer sends all the others in one call, and precedes its own
            // result.
            CompletableFuture<SendResult> first = send(sender);
            CompletableFuture<Void> held = first.thenRun(proxy::blackhole);
            List<CompletableFuture<SendResult>> sent = new ArrayList<>(
                    IntStream.range(1, SENDS).mapToObj((i) -> send(sender)).toList());
            proxy.delay(Duration.ofMillis(400));
            held.join();
            sent.add(first);

            List<Throwable> failures = sent.stream()
                .map((result) -> result.handle((done, failure) -> failure).join())
                .filter((failure) -> failure != null)
                .toList();

            assertThat(failures).hasSizeGreaterThan(SENDS / 2).doesNotHaveDuplicates().allSatisfy((failure) -> {
                assertThat(failure).isInstanceOf(StoreUnavailableException.class);
                assertThat(failure.getStackTrace()).isNotEmpty();
            });
            long unknown = failures.stream()
                .filter((failure) -> ((StoreUnavailableException) failure).effect() == Effect.UNKNOWN)
                .count();
            assertThat(unknown).as("those of the call").isGreaterThan(SENDS / 2);

            proxy.pass();
            // The connection is the same, so the call was executed before.
            Applications.await(() -> sender.queue().send(order().id("after").build()));
            long stored = sender.queue().statistics("orders").scheduled();
            assertThat(stored).isBetween(2L + SENDS - failures.size(), 2L + SENDS - failures.size() + unknown);
        }
    }

    private static CompletableFuture<SendResult> send(Application sender) {
        return sender.queue().sendAsync(order().build());
    }

    private static DelayedMessage.Builder order() {
        return DelayedMessage.builder("orders", new Order(1)).delay(Duration.ofHours(1));
    }

}
