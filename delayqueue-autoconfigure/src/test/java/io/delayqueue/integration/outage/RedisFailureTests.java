package io.delayqueue.integration.outage;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.delayqueue.BatchSendException;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.fixtures.LogCount;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.fixtures.redis.RedisUser;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * P1, P3: tests the exceptions of each operation while Redis rejects calls, and that
 * workers log it once and resume without intervention afterwards.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class RedisFailureTests {

    private static final Duration FAR = Duration.ofHours(1);

    private static final String TRYING = "retrying until the store answers";

    private static final String OVER = "The store answers again";

    @RegisterExtension
    final Applications applications = new Applications();

    private RedisServer redis;

    @AfterEach
    void stop() {
        this.applications.close();
        this.redis.close();
    }

    @ParameterizedTest
    @EnumSource
    void isLoggedOnceAndPasses(Trouble trouble, @TempDir Path data, CapturedOutput output) throws Exception {
        this.redis = RedisServer.start(RedisBinary.preferred(), "dir " + data);
        Application worker = this.applications.withHandler(this.redis, "delayqueue.safety-poll=200ms",
                trouble.timeout("2s"));
        DelayQueueOperations queue = this.applications.withoutHandler(this.redis, trouble.timeout("1s")).queue();
        for (String id : List.of("cancelled", "rescheduled", "found")) {
            // The time limit may be short, so that a stall of the machine fails a call.
            Applications.await(() -> queue.send(message(id).build()));
        }
        Applications.await(() -> queue.send("orders", new Order(1), Duration.ZERO));
        assertThat(worker.handler().next().number()).isEqualTo(1);

        long warned = LogCount.of(output, "WARN", TRYING);
        long over = LogCount.of(output, "INFO", OVER);
        Runnable mend = trouble.befall(this.redis, data);
        try {
            assertTold("send", trouble.send, () -> queue.send(message("sent").build()));
            assertTold("sendAll", trouble.send,
                    () -> queue.sendAll(List.of(message("a").build(), message("b").priority(7).build())));
            assertTold("cancel", trouble.change, () -> queue.cancel("orders", "cancelled"));
            assertTold("reschedule", trouble.change, () -> queue.reschedule("orders", "rescheduled", FAR));
            assertTold("find", trouble.find, () -> queue.find("orders", "found"));
            assertTold("receive", trouble.receive, () -> queue.receive("elsewhere", Duration.ofMillis(100)));
            Applications.awaitTrue("the worker says so",
                    () -> trouble.change.isEmpty() || LogCount.of(output, "WARN", TRYING) > warned);
        }
        finally {
            mend.run();
        }
        Applications.await(() -> queue.send("orders", new Order(2), Duration.ZERO));
        assertThat(worker.handler().next().number()).isEqualTo(2);
        Applications.awaitTrue("and that it is over",
                () -> trouble.change.isEmpty() || LogCount.of(output, "INFO", OVER) > over);
        assertThat(LogCount.of(output, "WARN", TRYING) - warned).isEqualTo(trouble.change.isEmpty() ? 0 : 1);
        assertThat(LogCount.of(output, " ERROR ")).isZero();
        for (String id : List.of("sent", "a", "b")) {
            assertThat(queue.find("orders", id)).as("what was refused").isEmpty();
        }
    }

    /**
     * Operations that work have no expectation; else the exception, the effect and a
     * word.
     */
    private static void assertTold(String operation, String expected, Runnable call) {
        if (expected.isEmpty()) {
            call.run();
            return;
        }
        DelayQueueException told = catchThrowableOfType(DelayQueueException.class, call::run);
        assertThat(told).as(operation).isNotNull();
        Throwable kind = (told instanceof BatchSendException) ? told.getCause() : told;
        String text = "%s %s %s".formatted(kind.getClass().getSimpleName(), told.effect(), told.getMessage());
        assertThat(text).as(operation).containsSubsequence(expected.split(" "));
        if (told.effect() == Effect.NONE) {
            assertThat(text).contains("nothing was changed");
        }
    }

    private static DelayedMessage.Builder message(String id) {
        return DelayedMessage.builder("orders", new Order(9)).id(id).delay(FAR);
    }

    /** What ails Redis. */
    enum Trouble {

        /** It became a replica. */
        READONLY("StoreUnavailable NONE READONLY", Reach.WRITES) {

            @Override
            Runnable befall(RedisServer redis, Path data) {
                redis.commands().replicaof("127.0.0.1", 1);
                return () -> redis.commands().replicaofNoOne();
            }

        },

        /** Fewer replicas than it wants. */
        NOREPLICAS("StoreUnavailable NONE NOREPLICAS", Reach.WRITES) {

            @Override
            Runnable befall(RedisServer redis, Path data) {
                return setting(redis, "min-replicas-to-write", "1", "0");
            }

        },

        /** It cannot save. */
        MISCONF("StoreRefused NONE MISCONF", Reach.WRITES) {

            @Override
            Runnable befall(RedisServer redis, Path data) throws Exception {
                FileSystemUtils.deleteRecursively(data);
                redis.commands().configSet("save", "3600 1000000");
                redis.commands().bgsave();
                Applications.awaitTrue("it failed",
                        () -> redis.commands().info("persistence").contains("rdb_last_bgsave_status:err"));
                return () -> redis.commands().configSet("save", "");
            }

        },

        /** Somebody's script does not end. */
        BUSY("StoreUnavailable NONE BUSY", Reach.ALL) {

            @Override
            Runnable befall(RedisServer redis, Path data) throws Exception {
                redis.commands().configSet("lua-time-limit", "50");
                RedisClient other = RedisClient.create(redis.uri());
                other.connect().async().eval("while true do end", ScriptOutputType.STATUS);
                Applications.awaitTrue("it is busy", () -> isRefused(redis, "BUSY"));
                return () -> {
                    redis.commands().scriptKill();
                    other.shutdown();
                };
            }

        },

        /** Its memory is full. */
        OOM("StoreRefused NONE OOM", Reach.SENDS) {

            @Override
            Runnable befall(RedisServer redis, Path data) {
                return setting(redis, "maxmemory", "1", "0");
            }

        },

        /** Its user may no longer run scripts. */
        NOPERM("StoreRefused NONE NOPERM", Reach.ALL) {

            @Override
            Runnable befall(RedisServer redis, Path data) {
                acl(redis, "-evalsha");
                return () -> acl(redis, "+evalsha");
            }

            private void acl(RedisServer redis, String right) {
                redis.commands()
                    .dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8),
                            new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add(RedisUser.underTest()).add(right));
            }

        },

        /** It loads its data, which takes long. */
        LOADING("StoreUnavailable NONE LOADING", Reach.ALL) {

            @Override
            Runnable befall(RedisServer redis, Path data) throws Exception {
                RedisCommands<String, String> commands = redis.commands();
                for (int i = 0; i < 300; i++) {
                    commands.set("filler:" + i, "x".repeat(200_000));
                }
                // It answers after each two megabytes.
                commands.configSet("rdbcompression", "no");
                commands.configSet("key-load-delay", "40000");
                RedisClient other = RedisClient.create(redis.uri());
                other.connect()
                    .async()
                    .dispatch(CommandType.DEBUG, new StatusOutput<>(StringCodec.UTF8),
                            new CommandArgs<>(StringCodec.UTF8).add("RELOAD"));
                Applications.awaitTrue("it loads", () -> isRefused(redis, "LOADING"));
                return () -> {
                    // Redis reads this before each key that it loads.
                    commands.configSet("key-load-delay", "0");
                    Applications.awaitTrue("it has loaded", () -> !isRefused(redis, "LOADING"));
                    other.shutdown();
                };
            }

        },

        /** It accepts no connections, and has lost the existing ones. */
        TOO_MANY_CLIENTS("StoreUnavailable No answer", Reach.ALL) {

            @Override
            Runnable befall(RedisServer redis, Path data) {
                redis.commands().configSet("maxclients", "1");
                redis.commands().clientKill(KillArgs.Builder.typeNormal().skipme());
                return () -> redis.commands().configSet("maxclients", "1000");
            }

        };

        final String send;

        final String change;

        final String find;

        final String receive;

        /**
         * A trouble.
         * @param told the exception, the effect and a word, in their order
         */
        Trouble(String told, Reach reach) {
            this.send = told;
            this.change = (reach != Reach.SENDS) ? told : "";
            this.receive = this.change;
            this.find = (reach == Reach.ALL) ? told : "";
        }

        /** Returns a short time limit only if Redis gives no answer. */
        String timeout(String unanswered) {
            return "delayqueue.command-timeout=" + ((this == TOO_MANY_CLIENTS) ? unanswered : "30s");
        }

        /**
         * Brings it about.
         * @return what ends it
         */
        abstract Runnable befall(RedisServer redis, Path data) throws Exception;

        private static Runnable setting(RedisServer redis, String name, String bad, String good) {
            redis.commands().configSet(name, bad);
            return () -> redis.commands().configSet(name, good);
        }

        private static boolean isRefused(RedisServer redis, String code) {
            try {
                redis.commands().get("anything");
                return false;
            }
            catch (RedisException ex) {
                return String.valueOf(ex.getMessage()).startsWith(code);
            }
        }

    }

    /** The operations that fail meanwhile. */
    private enum Reach {

        SENDS, WRITES, ALL

    }

}
