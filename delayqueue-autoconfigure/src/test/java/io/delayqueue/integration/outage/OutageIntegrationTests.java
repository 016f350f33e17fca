package io.delayqueue.integration.outage;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayedMessage;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.Variants;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.EachClient;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.delayqueue.fixtures.redis.TcpProxy;
import io.lettuce.core.KillArgs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Redis becomes unavailable and returns: no acknowledged send is lost (P1), handling
 * resumes without intervention (P3), the outage is logged once, and a send that timed out
 * is not executed later (P11).
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class OutageIntegrationTests {

    private RedisServer redis;

    @RegisterExtension
    final Applications applications = new Applications();

    @BeforeEach
    void start() {
        this.redis = RedisServer.start(RedisBinary.preferred(), "appendonly yes", "appendfsync always",
                "notify-keyspace-events Kz");
    }

    @AfterEach
    void stop() {
        this.applications.close();
        this.redis.close();
    }

    @ParameterizedTest
    @MethodSource("clients")
    void anApplicationStartsWithoutRedisAndCatchesUpWhenItComes(String client, String wakeup, CapturedOutput output)
            throws Exception {
        this.redis.kill();
        Application application = this.applications.withHandler(this.redis, "test.queues=orders,b,c",
                "spring.data.redis.client-type=" + client, "delayqueue.wakeup=" + wakeup);
        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> application.queue().send("orders", new Order(1), Duration.ZERO))
            // The first send reads the layout, and fails there.
            .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.NONE))
            .satisfies(OutageIntegrationTests::assertToldOnce);
        Applications.awaitTrue("it was tried", () -> LogCount.of(output, "WARN", "Cannot claim from") == 1);

        this.redis.restart();
        Applications.await(() -> application.queue().send("orders", new Order(2), Duration.ZERO));
        assertThat(application.handler().next().number()).isEqualTo(2);
        Applications.awaitTrue("it says so", () -> LogCount.of(output, "INFO", "The store answers again") == 1);
        // One connection serves all queues with Lettuce, one each with a client that
        // waits.
        Applications.await(() -> assertThat(LogCount.of(output, "WARN", "Cannot subscribe"))
            .isBetween(wakeup.equals("timer") ? 0L : 1L,
                    wakeup.equals("timer") ? 0L : client.equals("lettuce") ? 1L : 3L)
            .isEqualTo(LogCount.of(output, "INFO", "Subscribed to", "again")));
        assertThat(LogCount.of(output, "WARN", "Redis is not reachable")).isEqualTo(1);
        assertThat(LogCount.of(output, "WARN", "Cannot claim from")).isEqualTo(1);
        assertThat(LogCount.of(output, " ERROR ")).isZero();
        this.applications.assertNoKeysLeft(this.redis);
    }

    static Stream<Arguments> clients() {
        return Variants.of(List.of(arguments("lettuce", "channel"), arguments("jedis", "channel"),
                arguments("lettuce", "keyspace"), arguments("lettuce", "timer"), arguments("jedis", "keyspace"),
                arguments("jedis", "timer")));
    }

    @Test
    void aWorkerThatStartsWithoutRedisFindsAllPartitionsOfAQueue() {
        Application sender = this.applications.withoutHandler(this.redis, "delayqueue.queues.orders.partitions=4");
        Set<Integer> expected = new HashSet<>();
        for (int i = 0; i < 40; i++) {
            sender.queue().send(DelayedMessage.builder("orders", new Order(i)).id("order:" + i).build());
            expected.add(i);
        }
        assertThat(this.applications.keys(this.redis)).filteredOn((key) -> key.endsWith(":messages")).hasSize(4);
        this.redis.kill();
        // It cannot read the layout of the queue: that is recorded.
        Application worker = this.applications.withHandler(this.redis);
        Set<Integer> handled = ConcurrentHashMap.newKeySet();
        worker.handler().does((order, delivery) -> handled.add(order.number()));

        this.redis.restart();
        Applications.await(() -> assertThat(handled).isEqualTo(expected));

        for (int i = 40; i < 60; i++) {
            DelayedMessage message = DelayedMessage.builder("orders", new Order(i)).id("order:" + i).build();
            Applications.await(() -> sender.queue().send(message));
            expected.add(i);
        }
        Applications.await(() -> assertThat(handled).isEqualTo(expected));
        Applications
            .await(() -> assertThat(this.applications.keys(this.redis)).allMatch((key) -> key.endsWith(":partitions")));
    }

    @Test
    void aRestartOfRedisLosesNothingAndIsLoggedOnce(CapturedOutput output) throws Exception {
        Application application = this.applications.withHandler(this.redis, "delayqueue.command-timeout=3s");
        Set<Integer> expected = new HashSet<>();
        for (int i = 0; i < 50; i++) {
            DelayedMessage message = DelayedMessage.builder("orders", new Order(i))
                .id("order:" + i)
                .delay(Duration.ofMillis(1000 + 20 * i))
                .build();
            Applications.await(() -> application.queue().send(message));
            expected.add(i);
        }

        // A stall of the machine that was longer than the time limit was an outage too.
        Applications.awaitTrue("it answers", () -> begun(output) == ended(output));
        long before = begun(output);
        this.redis.kill();
        Applications.awaitTrue("the loss is noticed", () -> begun(output) > before);
        assertThatExceptionOfType(StoreUnavailableException.class)
            .isThrownBy(() -> application.queue().send("orders", new Order(99), Duration.ZERO));
        this.redis.restart();

        Set<Integer> handled = new HashSet<>();
        while (handled.size() < expected.size()) {
            handled.add(application.handler().next().number());
        }
        assertThat(handled).isEqualTo(expected);
        Applications.awaitTrue("it says so", () -> ended(output) > before);
        SendResult after = application.queue().send("orders", new Order(100), Duration.ZERO);
        assertThat(application.handler().next().assertNotBefore(after.dueAt()).number()).isEqualTo(100);
        assertThat(begun(output) - before).isEqualTo(1);
        assertThat(ended(output) - before).isEqualTo(1);
        // Spring Data's container has one of its own for a subscription that the loss
        // cuts off.
        assertThat(LogCount.of(output, " ERROR ")).isEqualTo(LogCount.of(output, " ERROR ", "SubscriptionTask"));
        this.applications.assertNoKeysLeft(this.redis);
    }

    private static long begun(CapturedOutput output) {
        return LogCount.of(output, "WARN", "retrying until the store answers");
    }

    private static long ended(CapturedOutput output) {
        return LogCount.of(output, "INFO", "The store answers again");
    }

    @Test
    void aServerThatForgotItsScriptsIsTaughtThemAgain() throws Exception {
        Application application = this.applications.withHandler(this.redis, Applications.NO_SAFETY_POLL);
        for (int i = 0; i < 3; i++) {
            application.queue().send("orders", new Order(i), Duration.ofMillis(20));
            this.redis.commands().scriptFlush();
            assertThat(application.handler().next().number()).isEqualTo(i);
        }
        this.applications.assertNoKeysLeft(this.redis);
    }

    @EachClient
    void aLostSubscriptionIsRestoredAndMissedMessagesArePolled(String client) throws Exception {
        RedisUser.set(this.redis, "worker", List.of("on", ">" + RedisUser.PASSWORD, "~*", "&*", "+@all"));
        Application worker = this.applications.withHandler(this.redis, Applications.NO_SAFETY_POLL,
                "spring.data.redis.client-type=" + client, "spring.data.redis.username=worker",
                "spring.data.redis.password=" + RedisUser.PASSWORD);
        Application sender = this.applications.withoutHandler(this.redis);
        Applications.awaitTrue("it listens", () -> !this.redis.commands().pubsubChannels().isEmpty());

        RedisUser.set(this.redis, "worker", List.of("resetchannels"));
        this.redis.commands().clientKill(KillArgs.Builder.typePubsub());
        Applications.awaitTrue("it listens no more", () -> this.redis.commands().pubsubChannels().isEmpty());
        sender.queue().send("orders", new Order(1), Duration.ZERO);
        RedisUser.set(this.redis, "worker", List.of("&*"));
        assertThat(worker.handler().next().number()).isEqualTo(1);
        Applications.awaitTrue("it listens again", () -> !this.redis.commands().pubsubChannels().isEmpty());
        sender.queue().send("orders", new Order(2), Duration.ZERO);
        assertThat(worker.handler().next().number()).isEqualTo(2);
        this.applications.assertNoKeysLeft(this.redis);
    }

    @Test
    void killedConnectionsAreMadeAgain() throws Exception {
        Application application = this.applications.withHandler(this.redis, Applications.NO_SAFETY_POLL);
        for (int i = 0; i < 5; i++) {
            this.redis.commands().clientKill(KillArgs.Builder.typeNormal().skipme());
            DelayedMessage message = DelayedMessage.builder("orders", new Order(i)).id("order:" + i).build();
            // The first may be the one that finds the connection broken.
            Applications
                .await(() -> application.queue().send(message.toBuilder().delay(Duration.ofMillis(300)).build()));
            assertThat(application.handler().next().number()).isEqualTo(i);
        }
        this.applications.assertNoKeysLeft(this.redis);
    }

    @Test
    void aSendWithoutAnAnswerFailsWithItsTimeLimitAndIsNotMadeUpForLater() {
        try (TcpProxy proxy = TcpProxy.to(this.redis)) {
            Application sender = this.applications.start(Applications.SenderConfiguration.class,
                    Applications.at(proxy.port(), "delayqueue.command-timeout=300ms"));
            DelayedMessage lost = DelayedMessage.builder("orders", new Order(1)).id("lost").build();
            // The time limit is short, so a stall of the machine may fail a call.
            Applications.await(() -> sender.queue().send(lost.toBuilder().id("first").build()));

            proxy.blackhole();
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> sender.queue().send(lost))
                .withMessageContaining("within 300 ms")
                .satisfies((ex) -> assertThat(ex.effect()).isEqualTo(Effect.UNKNOWN))
                .satisfies(OutageIntegrationTests::assertToldOnce);
            // Calls in flight are lost with the connection; only the client could
            // repeat it.
            this.redis.commands().clientKill(KillArgs.Builder.typeNormal().skipme());
            proxy.pass();
            Applications.await(() -> sender.queue().send(lost.toBuilder().id("second").build()));

            Applications.await(() -> assertThat(sender.queue().find("orders", "lost")).isEmpty());
            Applications.await(() -> assertThat(sender.queue().statistics("orders").scheduled()).isEqualTo(2));
            Applications.await(() -> sender.queue().cancel("orders", "first"));
            Applications.await(() -> sender.queue().cancel("orders", "second"));
            this.applications.assertNoKeysLeft(this.redis);
        }
    }

    /** The stack of the caller, and then what the client said. */
    private static void assertToldOnce(Throwable failure) {
        List<Throwable> told = new ArrayList<>();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            told.add(cause);
        }
        assertThat(told).filteredOn(StoreUnavailableException.class::isInstance).hasSize(1);
        assertThat(told).hasSizeGreaterThan(1);
        assertThat(failure.getStackTrace())
            .anyMatch((frame) -> frame.getClassName().startsWith(OutageIntegrationTests.class.getName()));
    }

    @Test
    void aSendWhileTheConnectionIsDownIsNotMadeUpForLater() {
        try (TcpProxy proxy = TcpProxy.to(this.redis)) {
            Application sender = this.applications.start(Applications.SenderConfiguration.class,
                    Applications.at(proxy.port(), "delayqueue.command-timeout=300ms"));
            DelayedMessage lost = DelayedMessage.builder("orders", new Order(1)).id("lost").build();
            Applications.await(() -> sender.queue().cancel("orders", "anything"));

            proxy.refuse();
            assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> sender.queue().send(lost));
            proxy.pass();
            Applications.await(() -> assertThat(sender.queue().send(lost.toBuilder().id("later").build()).outcome())
                .isIn(SendOutcome.SCHEDULED, SendOutcome.KEPT));

            Applications.await(() -> assertThat(sender.queue().find("orders", "lost")).isEmpty());
            Applications.await(() -> sender.queue().cancel("orders", "later"));
            this.applications.assertNoKeysLeft(this.redis);
        }
    }

}
