package io.delayqueue.integration.handling;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.SendResult;
import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Handled;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.EachRedisVersion;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.lettuce.core.AclSetuserArgs;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
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
 * P3: a message reaches a worker that sleeps, by a wake-up where there are any and else
 * by the safety poll. Where wake-ups have to do it the safety poll is an hour away.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class WakeUpIntegrationTests {

    private static final Duration FAR = Duration.ofHours(10);

    private static RedisServer redis;

    @RegisterExtension
    final Applications applications = new Applications().examined();

    @BeforeAll
    static void start() {
        redis = RedisServer.start(RedisBinary.preferred(), "notify-keyspace-events Kz");
    }

    @AfterAll
    static void stop() {
        redis.close();
    }

    @ParameterizedTest
    @ValueSource(strings = { "channel", "keyspace" })
    void aMessageOfAnotherApplicationWakesAWorkerThatSleeps(String mode) throws Exception {
        Application worker = this.applications.withHandler(redis, "delayqueue.wakeup=" + mode,
                Applications.NO_SAFETY_POLL);
        Application sender = this.applications.withoutHandler(redis, "delayqueue.wakeup=" + mode);
        sender.queue().send("orders", new Order(1), Duration.ZERO);
        worker.handler().next();
        this.applications.assertNoKeysLeft(redis);
        SendResult far = sender.queue().send("orders", new Order(2), FAR);

        SendResult near = sender.queue().send("orders", new Order(3), Duration.ofMillis(100));
        assertThat(worker.handler().next().assertNotBefore(near.dueAt()).number()).isEqualTo(3);
        sender.queue().reschedule("orders", far.id(), Duration.ZERO);
        assertThat(worker.handler().next().number()).isEqualTo(2);
        this.applications.assertNoKeysLeft(redis);
    }

    @Test
    void inKeyspaceModeAMessageWrittenWithoutTheLibraryIsHandled() throws Exception {
        Application worker = this.applications.withHandler(redis, "delayqueue.wakeup=keyspace",
                Applications.NO_SAFETY_POLL);
        worker.queue().send("orders", new Order(1), Duration.ZERO);
        worker.handler().next();
        this.applications.assertNoKeysLeft(redis);

        Instant due = Instant.ofEpochMilli(Applications.timeOf(redis.commands()).toEpochMilli() + 200);
        redis.commands()
            .hset(key("messages"), "raw", "s0000000{\"v\":1,\"headers\":{\"a\":\"b\"},\"payload\":{\"number\":5}}");
        redis.commands().zadd(key("scheduled"), due.toEpochMilli(), "raw");
        Handled handled = worker.handler().next().assertNotBefore(due);
        assertThat(handled.number()).isEqualTo(5);
        assertThat(handled.delivery().id()).isEqualTo("raw");
        assertThat(handled.headers()).containsAllEntriesOf(Map.of("a", "b"));
        this.applications.assertNoKeysLeft(redis);
    }

    @Test
    void inTimerModeNothingIsSubscribedAndTheSafetyPollFindsTheMessage() throws Exception {
        Application worker = this.applications.withHandler(redis, "delayqueue.wakeup=timer",
                "delayqueue.safety-poll=200ms");
        Application sender = this.applications.withoutHandler(redis, "delayqueue.wakeup=timer");

        SendResult sent = sender.queue().send("orders", new Order(1), Duration.ofMillis(50));
        worker.handler().next().assertNotBefore(sent.dueAt());
        assertThat(redis.commands().pubsubChannels()).isEmpty();
        assertThat(redis.commands().pubsubNumpat()).isZero();
        this.applications.assertNoKeysLeft(redis);
    }

    @Test
    @Tag("matrix")
    void aWaitingReceiveIsWokenToo() throws Exception {
        Application receiver = this.applications.withoutHandler(redis, Applications.NO_SAFETY_POLL);
        Application sender = this.applications.withoutHandler(redis);
        var received = new CompletableFuture<Boolean>();
        Thread thread = new Thread(() -> received.complete(receiver.queue()
            .receive("by-hand", Applications.TIMEOUT.multipliedBy(10))
            .orElseThrow()
            .acknowledge()));
        thread.start();
        Applications.awaitTrue("it listens", () -> !redis.commands().pubsubChannels().isEmpty());

        sender.queue().send("by-hand", new Order(1), Duration.ofMillis(50));
        assertThat(received.get()).isTrue();
        Applications.awaitTrue("it listens no more", () -> redis.commands().pubsubChannels().isEmpty());
        this.applications.assertNoKeysLeft(redis);
    }

    @Test
    void keyspaceModeOnAServerThatDoesNotNotifyNamesTheFix(CapturedOutput output) throws Exception {
        RedisServer silent = RedisServer.shared(RedisBinary.preferred());
        Application worker = this.applications.withHandler(silent, "delayqueue.wakeup=keyspace",
                "delayqueue.safety-poll=200ms");

        assertThat(LogCount.of(output, "ERROR", "needs 'Kz'", "notify-keyspace-events ''")).isEqualTo(1);
        worker.queue().send("orders", new Order(1), Duration.ZERO);
        worker.handler().next();
        this.applications.assertNoKeysLeft(silent);
    }

    @EachRedisVersion
    void withoutTheRightToPublishMessagesAreStoredAndFoundBySafetyPoll(RedisBinary binary, CapturedOutput output)
            throws Exception {
        RedisServer server = RedisServer.shared(binary);
        String user = this.applications.namespace().toLowerCase(Locale.ROOT);
        server.commands()
            .aclSetuser(user,
                    AclSetuserArgs.Builder.on().addPassword("secret").allKeys().allCommands().resetChannels());
        Application application = this.applications.withHandler(server, "spring.data.redis.username=" + user,
                "spring.data.redis.password=secret", "delayqueue.safety-poll=300ms");
        for (int i = 0; i < 3; i++) {
            application.queue().send("orders", new Order(i), Duration.ofMillis(20));
            application.handler().next();
        }

        assertThat(LogCount.of(output, "WARN", "may not publish")).isEqualTo(1);
        assertThat(LogCount.of(output, "WARN", "Cannot subscribe")).isEqualTo(1);
        this.applications.assertNoKeysLeft(server);
    }

    private String key(String kind) {
        return this.applications.namespace() + ":{orders}:" + kind;
    }

}
