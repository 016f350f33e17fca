package io.delayqueue.benchmarks.library;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.PartitionTarget;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Measures sends one by one through a wire that adds latency: messages with generated
 * ids, which share calls, beside messages with ids of the application, which do not.
 * Prints the rate of each for several numbers of threads. {@code -Ddq.micros=0,200,1000}
 * selects round trips, {@code -Ddq.seconds=3} is the time of each of three rounds.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class DistantSendMeasurement {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    private static final int ROUNDS = 3;

    private static final long NANOS = TimeUnit.SECONDS.toNanos(Integer.getInteger("dq.seconds", 3));

    private static final PartitionTarget TARGET = PartitionTarget.first(new QueueName("distant"));

    private static final byte[] ENVELOPE = "{\"payload\":\"%s\"}".formatted("x".repeat(100))
        .getBytes(StandardCharsets.US_ASCII);

    private final AtomicLong ids = new AtomicLong();

    static Stream<Integer> roundTrips() {
        return Stream.of(System.getProperty("dq.micros", "0,200,500,1000").split(",")).map(Integer::valueOf);
    }

    @ParameterizedTest
    @MethodSource("roundTrips")
    void sendsAreTimed(int micros) throws InterruptedException {
        for (int threads : new int[] { 1, 4, 8, 16, 64 }) {
            List<Double> shared = new ArrayList<>();
            List<Double> alone = new ArrayList<>();
            for (int round = 0; round <= ROUNDS; round++) {
                shared.add(rate(micros, threads, true));
                alone.add(rate(micros, threads, false));
            }
            double[] quotients = new double[ROUNDS];
            for (int round = 1; round <= ROUNDS; round++) {
                quotients[round - 1] = shared.get(round) / alone.get(round);
            }
            Arrays.sort(quotients);
            System.out.printf("+%,d µs, %d threads: %,.0f/s shared, %,.0f/s alone, x %.2f (%.2f-%.2f)%n", micros,
                    threads, shared.get(ROUNDS), alone.get(ROUNDS), quotients[ROUNDS / 2], quotients[0],
                    quotients[ROUNDS - 1]);
        }
    }

    /** Returns the messages of a second. */
    private double rate(int micros, int threads, boolean generated) throws InterruptedException {
        try (RedisServer server = RedisServer.start(RedisBinary.preferred());
                DistantRedis distant = new DistantRedis(server.port(), TimeUnit.MICROSECONDS.toNanos(micros) / 2)) {
            LettuceConnectionFactory connections = new LettuceConnectionFactory(server.host(),
                    (micros > 0) ? distant.port() : server.port());
            connections.afterPropertiesSet();
            connections.start();
            RedisMessageStore store = new RedisMessageStore(RedisScriptExecutor.to(connections, "measured", LIMIT));
            send(store, generated);
            AtomicLong sent = new AtomicLong();
            long end = System.nanoTime() + NANOS;
            List<Thread> senders = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                Thread sender = new Thread(() -> {
                    while (System.nanoTime() < end) {
                        send(store, generated);
                        sent.incrementAndGet();
                    }
                });
                sender.start();
                senders.add(sender);
            }
            for (Thread sender : senders) {
                sender.join();
            }
            connections.destroy();
            return sent.get() * 1e9 / NANOS;
        }
    }

    private void send(RedisMessageStore store, boolean generated) {
        NewMessage message = new NewMessage("message-" + this.ids.incrementAndGet(), generated,
                DueTime.after(Duration.ofHours(1)), OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY, null, null,
                ENVELOPE);
        store.schedule(TARGET, List.of(message)).join();
    }

}
