package io.delayqueue.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verifyNoInteractions;

/** How subscriptions are tried again; that they work is told by the integration tests. */
class RedisWakeUpsTests {

    private final AwayRunner server = new AwayRunner();

    private final LettuceConnectionFactory factory = mock(LettuceConnectionFactory.class);

    @Test
    void whileTheServerIsAwayAllQueuesTogetherTryOnceAPause() {
        RedisWakeUps wakeUps = new RedisWakeUps(this.factory, new RedisAccess(this.server, "dq"), WakeUpMode.CHANNEL);
        long start = System.nanoTime();
        for (int i = 0; i < 5; i++) {
            wakeUps.listen(new QueueName("queue-" + i), () -> {
            });
        }

        Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> this.server.calls.get() >= 3);
        long pauses = Duration.ofNanos(System.nanoTime() - start).toSeconds();
        assertThat(this.server.calls.get()).isLessThanOrEqualTo((int) pauses + 2);
        verifyNoInteractions(this.factory);
        wakeUps.close();
    }

    private static final class AwayRunner implements ScriptRunner {

        private final AtomicInteger calls = new AtomicInteger();

        @Override
        public CompletableFuture<List<Object>> run(RedisScript script, byte[][] keys, byte[][] arguments) {
            this.calls.incrementAndGet();
            return CompletableFuture.failedFuture(new StoreUnavailableException("away", Effect.NONE, null));
        }

        @Override
        public void close() {
            // Holds nothing.
        }

    }

}
