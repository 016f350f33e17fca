package io.delayqueue.benchmarks.library;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DelayedMessage;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Measures how long after the end of an outage of Redis the first message is handled
 * (P3), without a restart, by workers with wake-ups and by workers that only poll. Prints
 * the times and the load of the machine; asserts only that the messages are handled.
 */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class RedisReturnMeasurement {

    /** The safety poll, and a little more. */
    private static final Duration KNOWN = Duration.ofSeconds(6);

    @RegisterExtension
    final Applications applications = new Applications();

    @ParameterizedTest
    @ValueSource(ints = { 1, 60, 300 })
    void messagesAreHandledSoonAfterTheReturnOfRedis(int seconds) throws Exception {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred(), "appendonly yes", "appendfsync always")) {
            List<Application> workers = List.of(worker(redis, "channel"), worker(redis, "timer"));
            Application sender = this.applications.withoutHandler(redis);
            for (int round = 1; round <= ((seconds == 300) ? 1 : 3); round++) {
                measure(seconds, redis, workers, sender);
            }
            this.applications.close();
        }
    }

    private Application worker(RedisServer redis, String mode) {
        return this.applications.withHandler(redis, "delayqueue.wakeup=" + mode, "test.queues=" + mode);
    }

    private static void measure(int seconds, RedisServer redis, List<Application> workers, Application sender)
            throws Exception {
        List<CompletableFuture<Long>> waited = List.of(new CompletableFuture<>(), new CompletableFuture<>());
        List<CompletableFuture<Long>> fresh = List.of(new CompletableFuture<>(), new CompletableFuture<>());
        for (int i = 0; i < workers.size(); i++) {
            CompletableFuture<Long> first = waited.get(i);
            CompletableFuture<Long> second = fresh.get(i);
            workers.get(i)
                .handler()
                .does((order, delivery) -> ((order.number() == 1) ? first : second).complete(System.nanoTime()));
        }
        // A worker without wake-ups has to poll once to know the message.
        for (String queue : List.of("channel", "timer")) {
            sender.queue().send(queue, new Order(1), KNOWN.plusMillis(500));
        }
        pass(KNOWN);
        redis.kill();
        pass(Duration.ofSeconds(seconds));
        long started = System.nanoTime();
        redis.restart();
        long back = System.nanoTime();
        for (String queue : List.of("channel", "timer")) {
            DelayedMessage message = DelayedMessage.builder(queue, new Order(2)).build();
            Applications.await(() -> sender.queue().send(message));
        }
        long sent = System.nanoTime();
        System.out.printf(
                "After %d s without Redis, which was ready %d ms after its start: first delivery %d ms (channel) and "
                        + "%d ms (timer) after it was ready; first sends %d ms after it was ready, delivered after "
                        + "%d ms (channel) and %d ms (timer, safety poll 5 s); load %.1f on %d CPUs%n",
                seconds, millis(started, back), millis(back, at(waited.get(0))), millis(back, at(waited.get(1))),
                millis(back, sent), millis(sent, at(fresh.get(0))), millis(sent, at(fresh.get(1))),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                Runtime.getRuntime().availableProcessors());
    }

    private static void pass(Duration time) throws InterruptedException {
        // Real time: the length of an outage is a parameter of the measurement.
        Thread.sleep(time.toMillis());
    }

    private static long at(CompletableFuture<Long> handled) throws Exception {
        return handled.get(Applications.TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    }

    private static long millis(long from, long to) {
        return TimeUnit.NANOSECONDS.toMillis(to - from);
    }

}
