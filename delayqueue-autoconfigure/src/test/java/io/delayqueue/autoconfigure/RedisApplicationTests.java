package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedListener;
import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.application.EachClient;
import io.delayqueue.fixtures.application.ResourceLeaks;
import io.delayqueue.fixtures.application.StartupFailures;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.protocol.CommandType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Checks the connections and threads of an application on a real server, and that none
 * remains after its stop.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class RedisApplicationTests {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final RedisServer redis = RedisServer.shared(RedisBinary.REDIS_7_0);

    private final ResourceLeaks leaks = new ResourceLeaks();

    @AfterEach
    void clean() {
        this.redis.commands().aclDeluser("modest");
        List<String> keys = this.redis.commands().keys("wiring:*");
        if (!keys.isEmpty()) {
            this.redis.commands().del(keys.toArray(String[]::new));
        }
    }

    private ApplicationContextRunner application(int port) {
        return new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class,
                    DelayQueueAutoConfiguration.class, DelayQueueListenerAutoConfiguration.class))
            .withPropertyValues(RedisUser.asAsked("spring.data.redis.port=" + port, "delayqueue.namespace=wiring"));
    }

    @EachClient
    void deliversMessagesToHandlers(String client, CapturedOutput output) {
        application(this.redis.port()).withPropertyValues("spring.data.redis.client-type=" + client)
            .withBean(Handler.class)
            .run((context) -> {
                context.getBean(DelayQueueOperations.class).send("orders", "hello", Duration.ofMillis(10));

                assertThat(context.getBean(Handler.class).seen.poll(LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isEqualTo("hello");
            });
        // The servers of the tests keep nothing on disk, of which the start warns.
        assertThat(LogCount.lines(output, "WARN")).allMatch((line) -> line.contains("Nothing is kept on disk"));
        assertThat(LogCount.lines(output, "ERROR")).isEmpty();
    }

    @Test
    void subscribesIfThereIsAListener() {
        application(this.redis.port()).withBean(Handler.class)
            .run((context) -> await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(channels()).containsExactly("wiring:{orders}:wake")));
        await().atMost(LIMIT).untilAsserted(() -> assertThat(channels()).isEmpty());
    }

    @Test
    void hasNoSubscriptionAndNoThreadIfItOnlySends() {
        application(this.redis.port()).run((context) -> {
            context.getBean(DelayQueueOperations.class).send("orders", "hello", Duration.ofHours(1));

            assertThat(channels()).isEmpty();
            // The thread that makes a connection ends with that.
            await().atMost(LIMIT).untilAsserted(() -> assertThat(this.leaks.threads()).isEmpty());
        });
    }

    @Test
    void leavesNoThreadAndNoConnection() {
        Set<String> connections = ResourceLeaks.connections(this.redis);
        application(this.redis.port()).withBean(Handler.class)
            .run((context) -> context.getBean(DelayQueueOperations.class).send("other", "hello", Duration.ofHours(1)));

        await().atMost(LIMIT).untilAsserted(() -> assertThat(this.leaks.threads()).isEmpty());
        await().atMost(LIMIT)
            .untilAsserted(() -> assertThat(ResourceLeaks.connections(this.redis)).isEqualTo(connections));
    }

    @Test
    void rejectsAServerWithMissingPermissions() {
        this.redis.commands()
            .aclSetuser("modest",
                    AclSetuserArgs.Builder.on()
                        .addPassword("secret")
                        .allKeys()
                        .allChannels()
                        .allCommands()
                        .removeCommand(CommandType.ZADD));
        application(this.redis.port())
            .withPropertyValues("spring.data.redis.username=modest", "spring.data.redis.password=secret")
            .run((context) -> {
                FailureAnalysis text = StartupFailures.of(context.getStartupFailure());
                assertThat(text.getDescription())
                    .startsWith("Messages cannot be kept on this Redis server. The Redis user lacks a permission: ");
                assertThat(text.getAction())
                    .isEqualTo("Allow it that command on the keys of the namespace, or name another user.");
            });
    }

    @Test
    void startsWithoutItsServerAndChecksItWhenItReturns(CapturedOutput output) {
        try (RedisServer own = RedisServer.start(RedisBinary.REDIS_7_0, "maxmemory-policy allkeys-lru")) {
            own.kill();
            application(own.port()).withBean(Handler.class).run((context) -> {
                assertThat(context).hasNotFailed();
                assertThat(output)
                    .contains("Redis is not reachable, or cannot be written to, at the moment; the application starts");
                own.restart();

                await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(output).contains("Redis has maxmemory-policy 'allkeys-lru'"));
                context.getBean(DelayQueueOperations.class).send("orders", "hello", Duration.ZERO);
                assertThat(context.getBean(Handler.class).seen.poll(LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isEqualTo("hello");
            });
        }
    }

    @Test
    void stopsWhileItsServerIsAway() {
        try (RedisServer own = RedisServer.start(RedisBinary.REDIS_7_0)) {
            own.kill();
            application(own.port()).withBean(Handler.class).run((context) -> assertThat(context).hasNotFailed());
        }
        await().atMost(LIMIT).untilAsserted(() -> assertThat(this.leaks.threads()).isEmpty());
    }

    private List<String> channels() {
        return this.redis.commands().pubsubChannels("wiring:*");
    }

    static class Handler {

        final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

        @DelayedListener("orders")
        void on(String payload) {
            this.seen.add(payload);
        }

    }

}
