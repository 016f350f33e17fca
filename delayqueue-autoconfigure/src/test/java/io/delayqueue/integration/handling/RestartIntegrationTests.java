package io.delayqueue.integration.handling;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.delayqueue.MessageState;
import io.delayqueue.SendResult;
import io.delayqueue.StoredMessage;
import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Handled;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.TcpProxy;
import io.delayqueue.listener.ListenerContainer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * P12: an application that stops finishes the messages that it began, releases the
 * others, acknowledges finished ones, and keeps the leases of handlers that outlive it. A
 * restarted application works as before.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
@Tag("matrix")
class RestartIntegrationTests {

    /** So long that nothing here is ever handled because a lease ran out. */
    private static final String LONG_LEASE = "delayqueue.listener.lease=1h";

    private final RedisServer redis = RedisServer.shared(RedisBinary.preferred());

    private final CountDownLatch go = new CountDownLatch(1);

    @RegisterExtension
    final Applications applications = new Applications();

    @AfterEach
    void letHandlersEnd() {
        this.go.countDown();
    }

    @Test
    void aWorkerThatIsStoppedAndStartedAgainHandlesEachMessageOnce() throws Exception {
        Application application = this.applications.withHandler(this.redis, LONG_LEASE, Applications.NO_SAFETY_POLL);
        handledOnceAcross(application, () -> {
            application.worker().stop();
            application.worker().start();
        });
    }

    @ParameterizedTest
    @ValueSource(strings = { "lettuce", "jedis" })
    void aContextThatIsPausedAndRestartedHandlesEachMessageOnce(String client, CapturedOutput output) throws Exception {
        Application application = this.applications.withHandler(this.redis, LONG_LEASE, Applications.NO_SAFETY_POLL,
                "spring.data.redis.client-type=" + client);
        handledOnceAcross(application, () -> {
            application.context().pause();
            application.context().restart();
        });
        assertThat(warnings(output)).isEmpty();
    }

    @Test
    void aContextThatIsStoppedAndStartedHandlesEachMessageOnce(CapturedOutput output) throws Exception {
        Application application = this.applications.withHandler(this.redis, LONG_LEASE, Applications.NO_SAFETY_POLL);
        handledOnceAcross(application, () -> {
            application.context().stop();
            application.context().start();
        });
        assertThat(warnings(output)).isEmpty();
    }

    /**
     * Returns the warnings but those about this Redis, and about a machine that stalls.
     */
    private static List<String> warnings(CapturedOutput output) {
        return LogCount.lines(output, " WARN ").stream().filter((line) -> !line.contains("kept on disk")).toList();
    }

    /** Messages come due all the while, some in the hands of handlers at each stop. */
    private void handledOnceAcross(Application application, Runnable restart) throws Exception {
        Application sender = this.applications.withoutHandler(this.redis);
        application.handler().does((order, delivery) -> this.go.await(5 + order.number() % 20, TimeUnit.MILLISECONDS));
        for (int i = 0; i < 200; i++) {
            sender.queue().send("orders", new Order(i), Duration.ofMillis(5 * i));
        }
        for (int i = 0; i < 4; i++) {
            application.handler().next();
            restart.run();
        }
        for (int i = 4; i < 200; i++) {
            application.handler().next();
        }
        // After the last stop a message still wakes the worker.
        this.applications.assertNoKeysLeft(this.redis);
        sender.queue().send("orders", new Order(200), Duration.ZERO);
        assertThat(application.handler().next().number()).isEqualTo(200);
        this.applications.assertNoKeysLeft(this.redis);
        assertThat(application.handler().rest()).isEmpty();
    }

    @Test
    void aLazyApplicationListensAllTheSame() throws Exception {
        Application application = this.applications.withHandler(this.redis, "spring.main.lazy-initialization=true");
        Application sender = this.applications.withoutHandler(this.redis, "spring.main.lazy-initialization=true");

        sender.queue().send("orders", new Order(1), Duration.ofMillis(20));
        assertThat(application.handler().next().number()).isEqualTo(1);
        this.applications.assertNoKeysLeft(this.redis);
    }

    @Test
    void aPausedListenerLeavesMessagesToOthersAndGoesOnWhenResumed() throws Exception {
        Application paused = this.applications.withHandler(this.redis, LONG_LEASE);
        Application other = this.applications.withHandler(this.redis, LONG_LEASE);
        paused.listener().pause();
        List<Integer> expected = IntStream.range(0, 30).boxed().toList();
        expected.forEach((number) -> paused.queue().send("orders", new Order(number), Duration.ofMillis(10)));
        List<Integer> handled = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            handled.add(other.handler().next().number());
        }
        assertThat(handled).containsExactlyInAnyOrderElementsOf(expected);
        other.listener().pause();
        paused.listener().resume();
        paused.queue().send("orders", new Order(99), Duration.ZERO);
        assertThat(paused.handler().next().number()).isEqualTo(99);
        this.applications.assertNoKeysLeft(this.redis);
    }

    @Test
    void handlersThatRunAreWaitedForAndWhatTheyDidIsAcknowledged() throws Exception {
        Application stopping = this.applications.withHandler(this.redis, LONG_LEASE);
        CountDownLatch begun = new CountDownLatch(5);
        stopping.handler().does((order, delivery) -> {
            begun.countDown();
            this.go.await();
        });
        for (int i = 0; i < 5; i++) {
            stopping.queue().send("orders", new Order(i), Duration.ZERO);
        }
        begun.await();

        ListenerContainer listener = stopping.listener();
        CompletableFuture<Void> closed = CompletableFuture.runAsync(stopping::close);
        Applications.awaitTrue("it stops", () -> !listener.isRunning());
        assertThat(closed).isNotDone();
        this.go.countDown();
        closed.get();
        assertThat(this.applications.keys(this.redis)).isEmpty();
    }

    @Test
    void messagesClaimedDuringAStopAreReleasedAndClaimedByOthersAtOnce() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(this.redis)) {
            Application stopping = this.applications.start(Applications.HandlerConfiguration.class,
                    Applications.at(proxy.port(), LONG_LEASE, "delayqueue.command-timeout=60s"));
            Application sender = this.applications.withoutHandler(this.redis);
            sender.queue().send("orders", new Order(0), Duration.ZERO);
            stopping.handler().next();
            this.applications.assertNoKeysLeft(this.redis);
            // The answer to the claim is on its way when the stop begins.
            proxy.delay(Duration.ofMillis(1500));
            SendResult sent = sender.queue().send("orders", new Order(1), Duration.ZERO);
            Applications.awaitTrue("it is claimed", () -> sender.queue().statistics("orders").leased() == 1);

            CompletableFuture<Void> closed = CompletableFuture.runAsync(stopping.worker()::stop);
            Application other = this.applications.withHandler(this.redis, LONG_LEASE, Applications.NO_SAFETY_POLL);
            Handled handled = other.handler().next().assertNotBefore(sent.dueAt());
            assertThat(handled.number()).isEqualTo(1);
            assertThat(handled.delivery().attempt()).isEqualTo(1);
            assertThat(handled.delivery().lapses()).isZero();
            closed.get();
            proxy.pass();
            assertThat(stopping.handler().rest()).isEmpty();
            this.applications.assertNoKeysLeft(this.redis);
            this.applications.close();
        }
    }

    @Test
    void theMessageOfAHandlerThatTheStopInterruptsIsReleasedAtOnce(CapturedOutput output) throws Exception {
        Application stopping = this.applications.withHandler(this.redis, LONG_LEASE,
                "delayqueue.listener.shutdown-timeout=100ms");
        Application other = this.applications.withHandler(this.redis, LONG_LEASE);
        other.listener().pause();
        stopping.handler().does((order, delivery) -> this.go.await());
        stopping.queue().send("orders", new Order(1), Duration.ZERO);
        stopping.handler().next();
        other.listener().resume();

        stopping.close();

        Handled handled = other.handler().next();
        assertThat(handled.delivery().attempt()).isEqualTo(1);
        assertThat(handled.delivery().lapses()).isZero();
        assertThat(LogCount.of(output, "WARN", "outlived the shutdown timeout and was interrupted")).isEqualTo(1);
        this.applications.assertNoKeysLeft(this.redis);
    }

    @Test
    void aHandlerThatOutlivesTheStopKeepsItsLeaseUntilThatRunsOut(CapturedOutput output) throws Exception {
        Application stopping = this.applications.withHandler(this.redis, "delayqueue.listener.lease=3s",
                "delayqueue.listener.shutdown-timeout=100ms");
        Application sender = this.applications.withoutHandler(this.redis);
        stopping.handler().does((order, delivery) -> {
            while (this.go.getCount() > 0) {
                try {
                    this.go.await();
                }
                catch (InterruptedException ex) {
                    continue; // does not heed it
                }
            }
        });
        SendResult sent = sender.queue().send("orders", new Order(1), Duration.ZERO);
        stopping.handler().next();
        stopping.close();
        assertThat(LogCount.of(output, "WARN", "did not end within the shutdown timeout")).isEqualTo(1);
        // Before another node can have a lease of it.
        StoredMessage message = sender.queue().find("orders", sent.id()).orElseThrow();
        Instant until = (message.state() == MessageState.LEASED) ? message.leasedUntil() : sent.dueAt();

        Application other = this.applications.withHandler(this.redis, "delayqueue.listener.lease=3s");
        Handled handled = other.handler().next().assertNotBefore(until);
        assertThat(handled.delivery().attempt()).isEqualTo(1);
        assertThat(handled.delivery().lapses()).isZero();
        this.applications.assertNoKeysLeft(this.redis);
    }

}
