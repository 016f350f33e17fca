package io.delayqueue.benchmarks.jmh;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import io.delayqueue.DelayQueueOperations;
import io.delayqueue.DelayedMessage;
import io.delayqueue.SendResult;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Concurrent sends share calls, as they do on Redis. */
class SendBenchmarkTests {

    /** Less than that of five calls, of 60 microseconds each. */
    private static final Duration NEAR = Duration.ofNanos(5 * 60_000);

    private static final int MOST_SENDS = 100_000;

    @Test
    void sendsThatWaitShareACall() {
        try (Application.Running running = new Application.Running()) {
            StubRedis redis = running.bean(StubRedis.class);
            DelayedMessage message = DelayedMessage.builder(Application.QUEUE, Application.WORK)
                .delay(Application.DELAY)
                .build();
            sendUntilTheRoundTripIsShort(running.template(), redis, message);
            int before = redis.sends();
            CountDownLatch latch = new CountDownLatch(1);
            redis.hold(latch);

            List<CompletableFuture<SendResult>> sent = IntStream.range(0, SendBenchmark.CONCURRENT)
                .mapToObj((i) -> running.template().sendAsync(message))
                .toList();
            latch.countDown();

            assertThat(sent).allSatisfy((result) -> assertThat(result.join().queue()).isEqualTo(Application.QUEUE));
            assertThat(redis.sends() - before).isEqualTo(5);
        }
    }

    /**
     * Sends one message after another until an answer is as fast as that of a near
     * server, for a slow answer of a stalled machine looks like that of a distant one, to
     * which more calls are made at a time. An answer that is there when the call returns
     * is not timed, so it is held until then.
     */
    private static void sendUntilTheRoundTripIsShort(DelayQueueOperations template, StubRedis redis,
            DelayedMessage message) {
        boolean near = false;
        for (int i = 0; i < MOST_SENDS && !near; i++) {
            CountDownLatch latch = new CountDownLatch(1);
            redis.hold(latch);
            long began = System.nanoTime();
            CompletableFuture<SendResult> sent = template.sendAsync(message);
            latch.countDown();
            sent.join();
            near = System.nanoTime() - began < NEAR.toNanos();
        }
        assertThat(near).as("an answer within %s", NEAR).isTrue();
    }

}
