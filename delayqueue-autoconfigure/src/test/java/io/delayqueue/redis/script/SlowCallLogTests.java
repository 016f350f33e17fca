package io.delayqueue.redis.script;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.fixtures.redis.ConnectionFactories;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.store.MessageEventRecorderFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Verifies that calls are logged which Redis answers late, but before their time limit.
 */
@ExtendWith(OutputCaptureExtension.class)
@Tag("server")
class SlowCallLogTests {

    private static final String LINE = " to answer '";

    private final AtomicLong now = new AtomicLong();

    private final Deque<CompletableFuture<List<Object>>> calls = new ArrayDeque<>();

    private final ScriptRunner runner = new TimedScriptRunner(new ScriptRunner() {

        @Override
        public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
            CompletableFuture<List<Object>> call = new CompletableFuture<>();
            SlowCallLogTests.this.calls.add(call);
            return call;
        }

        @Override
        public void close() {
            // Holds nothing.
        }

    }, MessageEventRecorderFactory.NONE, new SlowCallLog(SlowCallLog.LATE, this.now::get, Runnable::run));

    private void call(Duration takes) {
        this.runner.run(RedisScripts.CLAIM, new byte[0][], new byte[0][]);
        this.now.addAndGet(takes.toNanos());
        this.calls.remove().complete(List.of());
    }

    private static int lines(CapturedOutput output) {
        return output.getAll().split(LINE, -1).length - 1;
    }

    @Test
    void aSlowCallIsLogged(CapturedOutput output) {
        call(Duration.ofMillis(999));
        assertThat(lines(output)).isZero();
        call(Duration.ofMillis(3200));
        assertThat(output).contains("Redis took 3.2 s to answer 'claim'");
    }

    @Test
    void slowCallsAreLoggedOnceAMinute(CapturedOutput output) {
        for (int i = 0; i < 10; i++) {
            call(Duration.ofSeconds(2));
        }
        assertThat(lines(output)).isOne();

        this.now.addAndGet(Duration.ofMinutes(1).toNanos());
        call(Duration.ofSeconds(2));
        assertThat(lines(output)).isEqualTo(2);
        assertThat(output).contains("so did 9 other calls since");
    }

    @Test
    void aFailedCallIsNotLogged(CapturedOutput output) {
        this.runner.run(RedisScripts.CLAIM, new byte[0][], new byte[0][]);
        this.now.addAndGet(Duration.ofSeconds(5).toNanos());
        this.calls.remove().completeExceptionally(new IllegalStateException("away"));
        assertThat(lines(output)).isZero();
    }

    @Test
    void aCallOnARedisThatHangsIsLogged(CapturedOutput output) {
        try (RedisServer server = RedisServer.start(RedisBinary.preferred())) {
            LettuceConnectionFactory connections = ConnectionFactories.lettuce(server);
            try (RedisScriptExecutor redis = RedisScriptExecutor.to(connections, "dq", Duration.ofMinutes(1))) {
                redis.probe(0).join();
                server.suspend();
                long begun = System.nanoTime();
                CompletableFuture<List<Object>> call = CompletableFuture.supplyAsync(() -> redis.probe(0).join());
                Awaitility.await().until(() -> System.nanoTime() - begun > Duration.ofMillis(1500).toNanos());
                assertThat(lines(output)).isZero();
                server.resume();
                assertThat(call.join()).isNotEmpty();

                Awaitility.await().until(() -> output.getAll().contains(LINE + "check-server'"));
            }
            finally {
                connections.destroy();
            }
        }
    }

}
