package io.delayqueue.integration.startup;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.EachRedisVersion;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.redis.UnsuitableRedisException;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContextException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A server that cannot keep messages fails the start and says what is missing; one that
 * may lose them is warned of; one that cannot now is waited for (P1).
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class UnsuitableRedisIntegrationTests {

    @RegisterExtension
    final Applications applications = new Applications();

    @ParameterizedTest
    @CsvSource({ "REDIS_6_2,ZMSCORE", "REDIS_7_0,ZMSCORE", "REDIS_6_2,ZREM", "REDIS_7_0,HDEL", "REDIS_7_0,TIME" })
    void aUserWithoutARightFailsTheStartWithItsName(RedisBinary binary, CommandType command, CapturedOutput output) {
        RedisServer redis = RedisServer.shared(binary);
        String user = user(redis,
                AclSetuserArgs.Builder.on()
                    .addPassword("secret")
                    .allKeys()
                    .allChannels()
                    .allCommands()
                    .removeCommand(command));

        assertThatExceptionOfType(ApplicationContextException.class).isThrownBy(() -> start(redis, user))
            .withRootCauseInstanceOf(UnsuitableRedisException.class);
        assertThat(output.getAll()).contains("APPLICATION FAILED TO START",
                "Messages cannot be kept on this Redis server. The Redis user lacks a permission: " + command.name(),
                "can't run this command");
        this.applications.keys(redis).forEach(redis.commands()::del); // the probe's,
                                                                      // which it may not
                                                                      // remove
    }

    @EachRedisVersion
    void aUserWithoutScriptsFailsTheStart(RedisBinary binary, CapturedOutput output) {
        RedisServer redis = RedisServer.shared(binary);
        String user = user(redis,
                AclSetuserArgs.Builder.on()
                    .addPassword("secret")
                    .allKeys()
                    .allChannels()
                    .allCommands()
                    .removeCommand(CommandType.EVALSHA));

        assertThatExceptionOfType(ApplicationContextException.class).isThrownBy(() -> start(redis, user))
            .withRootCauseInstanceOf(UnsuitableRedisException.class);
        assertThat(output.getAll()).contains("APPLICATION FAILED TO START", "evalsha", "Allow the Redis user EVALSHA");
    }

    @EachRedisVersion
    void aUserWithoutItsKeysFailsTheStart(RedisBinary binary, CapturedOutput output) {
        RedisServer redis = RedisServer.shared(binary);
        String user = user(redis,
                AclSetuserArgs.Builder.on().addPassword("secret").keyPattern("other:*").allChannels().allCommands());

        assertThatExceptionOfType(ApplicationContextException.class).isThrownBy(() -> start(redis, user))
            .withRootCauseInstanceOf(UnsuitableRedisException.class);
        assertThat(output.getAll()).contains("APPLICATION FAILED TO START", "NOPERM");
    }

    @EachRedisVersion
    void aWrongPasswordFailsTheStart(RedisBinary binary, CapturedOutput output) {
        RedisServer redis = RedisServer.shared(binary);
        String user = user(redis,
                AclSetuserArgs.Builder.on().addPassword("another").allKeys().allChannels().allCommands());

        assertThatExceptionOfType(ApplicationContextException.class).isThrownBy(() -> start(redis, user))
            .withRootCauseInstanceOf(UnsuitableRedisException.class);
        assertThat(output.getAll()).contains("APPLICATION FAILED TO START", "Redis does not let this user in",
                "WRONGPASS", "spring.data.redis.password");
    }

    @EachRedisVersion
    void theRightsInTheDocumentationAreEnough(RedisBinary binary, CapturedOutput output) throws Exception {
        String line = Files.readAllLines(Path.of("..", "docs", "configuration.md"))
            .stream()
            .filter((text) -> text.startsWith("ACL SETUSER shop "))
            .findFirst()
            .orElseThrow();
        CommandArgs<String, String> rights = new CommandArgs<>(StringCodec.UTF8);
        Stream.of(line.substring("ACL ".length()).split(" ")).forEach(rights::add);
        try (RedisServer redis = RedisServer.start(binary)) {
            redis.commands().dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), rights);
            Application application = this.applications.withHandler(redis, "delayqueue.namespace=shop",
                    "spring.data.redis.username=shop", "spring.data.redis.password=password");
            application.handler().does((order, delivery) -> delivery.deadLetter("enough"));

            application.queue().send("orders", new Order(1), Duration.ZERO);
            application.handler().next();
            Applications.awaitTrue("it died",
                    () -> !application.queue().deadLetters("orders").list(null, 1).deadLetters().isEmpty());
            assertThat(application.queue().deadLetters("orders").purgeAll()).isEqualTo(1);
            assertThat(LogCount.of(output, "WARN", "may not")).isZero();
            this.applications.close();
            assertThatExceptionOfType(ApplicationContextException.class).as("a namespace that begins with this one")
                .isThrownBy(() -> this.applications.withHandler(redis, "delayqueue.namespace=shop:eu",
                        "spring.data.redis.username=shop", "spring.data.redis.password=password"))
                .withRootCauseInstanceOf(UnsuitableRedisException.class);
        }
    }

    /** Only hints expire, and so may be evicted by the others. */
    @Test
    void thePoliciesThatTouchMessagesAreWarnedOfAndNoOthers(CapturedOutput output) {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred())) {
            for (String policy : List.of("allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-lfu",
                    "volatile-random", "volatile-ttl", "noeviction")) {
                redis.commands().configSet("maxmemory-policy", policy);
                try (Application started = this.applications.withHandler(redis)) {
                    assertThat(LogCount.of(output, "WARN", "maxmemory-policy '" + policy + "'", "Use 'noeviction'"))
                        .as(policy)
                        .isEqualTo(policy.startsWith("allkeys-") ? 1 : 0);
                }
            }
        }
    }

    @EachRedisVersion
    void aReadOnlyReplicaIsReportedAndUsedOnceItIsAMaster(RedisBinary binary, CapturedOutput output) throws Exception {
        try (RedisServer master = RedisServer.start(binary);
                RedisServer replica = RedisServer.start(binary,
                        "replicaof %s %d".formatted(master.host(), master.port()))) {
            Applications.awaitTrue("it has caught up",
                    () -> replica.commands().info("replication").contains("master_link_status:up"));
            Application application = this.applications.withHandler(replica, "delayqueue.safety-poll=200ms");

            assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(() -> application.queue().send("orders", new Order(1), Duration.ZERO))
                .withMessageContaining("READONLY")
                .withMessageContaining("nothing was changed");
            assertThat(LogCount.of(output, "WARN", "Redis is not reachable")).isEqualTo(1);

            replica.commands().replicaofNoOne();
            application.queue().send("orders", new Order(2), Duration.ZERO);
            assertThat(application.handler().next().number()).isEqualTo(2);
            this.applications.assertNoKeysLeft(replica);
            this.applications.close();
        }
    }

    private Application start(RedisServer redis, String user) {
        return this.applications.withHandler(redis, "spring.data.redis.username=" + user,
                "spring.data.redis.password=secret", "logging.level.io.delayqueue.redis.check=debug");
    }

    private String user(RedisServer redis, AclSetuserArgs rights) {
        String user = this.applications.namespace().toLowerCase(Locale.ROOT);
        redis.commands().aclSetuser(user, rights);
        return user;
    }

}
