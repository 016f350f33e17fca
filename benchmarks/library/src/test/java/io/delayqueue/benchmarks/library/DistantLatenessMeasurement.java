package io.delayqueue.benchmarks.library;

import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.delayqueue.template.DelayQueueTemplate;
import io.delayqueue.DelayedListener;
import io.delayqueue.Delivery;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Measures the lateness of messages at a low rate through a wire that adds latency. Each
 * is alone in its queue, so that a wake-up announces it, or one of thirty, so that the
 * claim before announces it. Prints percentiles in milliseconds, by Redis' clock, and how
 * many scripts ran per message, of which one is the send and one the acknowledgement.
 * {@code -Ddq.micros=0,1000} selects round trips, {@code -Ddq.messages=100} their number.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class DistantLatenessMeasurement {

    private static final int MESSAGES = Integer.getInteger("dq.messages", 100);

    private static final int TOGETHER = 30;

    private static final Pattern CALLS = Pattern.compile("cmdstat_evalsha:calls=(\\d+)");

    static Stream<Integer> roundTrips() {
        return Stream.of(System.getProperty("dq.micros", "0,1000,10000").split(",")).map(Integer::valueOf);
    }

    @ParameterizedTest
    @MethodSource("roundTrips")
    void latenessIsMeasured(int micros) throws InterruptedException {
        try (RedisServer server = RedisServer.start(RedisBinary.preferred());
                DistantRedis distant = new DistantRedis(server.port(), TimeUnit.MICROSECONDS.toNanos(micros) / 2);
                ConfigurableApplicationContext context = start((micros > 0) ? distant.port() : server.port())) {
            DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
            Handler handler = context.getBean(Handler.class);
            measure(server, template, handler, TOGETHER); // so that the code is
                                                          // compiled
            System.out.printf("+%,d µs, alone: %s; among others: %s%n", micros, measure(server, template, handler, 1),
                    measure(server, template, handler, TOGETHER));
        }
    }

    private static ConfigurableApplicationContext start(int port) {
        return new SpringApplicationBuilder(Configured.class).web(WebApplicationType.NONE)
            .properties(Map.of("spring.data.redis.port", String.valueOf(port)))
            .run();
    }

    /**
     * Sends messages, as many at once as said, and returns the percentiles of their
     * lateness.
     */
    private static String measure(RedisServer server, DelayQueueTemplate template, Handler handler, int together)
            throws InterruptedException {
        SplittableRandom random = new SplittableRandom(1);
        handler.micros.clear();
        long before = scripts(server);
        for (int sent = 0; sent < MESSAGES; sent += together) {
            handler.handled = new CountDownLatch(together);
            for (int i = 0; i < together; i++) {
                long delay = random.nextLong(100_000, 100_000 + together * 50_000L);
                template.send("measured", "text", Duration.ofNanos(1000 * delay));
            }
            handler.handled.await();
        }
        long[] sorted = handler.micros.stream().mapToLong(Long::longValue).sorted().toArray();
        return "p50 %.2f, p90 %.2f, p99 %.2f, %.2f scripts".formatted(percentile(sorted, 50), percentile(sorted, 90),
                percentile(sorted, 99), (scripts(server) - before) / (double) sorted.length);
    }

    /** Returns how many scripts the server has run. */
    private static long scripts(RedisServer server) {
        Matcher calls = CALLS.matcher(server.commands().info("commandstats"));
        return calls.find() ? Long.parseLong(calls.group(1)) : 0;
    }

    private static double percentile(long[] sorted, int percent) {
        return sorted[(sorted.length - 1) * percent / 100] / 1000.0;
    }

    /** Records the lateness of each message. */
    static final class Handler {

        private final Queue<Long> micros = new ConcurrentLinkedQueue<>();

        private volatile CountDownLatch handled = new CountDownLatch(0);

        @DelayedListener(queues = "measured")
        void handle(String payload, Delivery delivery) {
            this.micros.add(delivery.lateness().toNanos() / 1000);
            this.handled.countDown();
        }

    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Configured {

        @Bean
        Handler handler() {
            return new Handler();
        }

    }

}
