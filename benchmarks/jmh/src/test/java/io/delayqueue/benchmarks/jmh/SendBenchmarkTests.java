package io.delayqueue.benchmarks.jmh;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import io.delayqueue.DelayedMessage;
import io.delayqueue.SendResult;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Concurrent sends share calls, as they do on Redis. */
class SendBenchmarkTests {

    @Test
    void sendsThatWaitShareACall() {
        try (Application.Running running = new Application.Running()) {
            StubRedis redis = running.bean(StubRedis.class);
            DelayedMessage message = DelayedMessage.builder(Application.QUEUE, Application.WORK)
                .delay(Application.DELAY)
                .build();
            running.template().send(message); // reads the layout
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

}
