package io.delayqueue.integration;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedMessage;
import io.delayqueue.Delivery;
import io.delayqueue.testing.RedisBinary;
import io.delayqueue.testing.RedisServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Measures a herd: 100,000 messages due in one millisecond, a handler that does nothing,
 * default settings. Not part of the suite; prints how long it took, how long the scripts
 * took and the machine's load. Asserts only that each message is handled once and none
 * early.
 */
class HerdMeasurement {

    private static final int HERD = 100_000;

    private static final int ROUNDS = 3;

    @RegisterExtension
    final Applications applications = new Applications();

    @Test
    void aHerdIsHandled() throws Exception {
        RedisBinary binary = RedisBinary.GIVEN.isAvailable() ? RedisBinary.GIVEN : RedisBinary.preferred();
        try (RedisServer redis = RedisServer.start(binary, "latency-tracking-info-percentiles 50 99 99.9 100")) {
            Application application = this.applications.start(HerdConfiguration.class, Applications.at(redis.port()));
            Herd herd = application.context().getBean(Herd.class);
            for (int round = 1; round <= ROUNDS; round++) {
                measure(round, application, herd, redis);
            }
            this.applications.close();
            assertThat(this.applications.keys(redis)).isEmpty();
        }
    }

    private static void measure(int round, Application application, Herd herd, RedisServer redis)
            throws InterruptedException {
        herd.reset();
        Instant due = Instant.ofEpochSecond(Long.parseLong(redis.commands().time().get(0)) + 8);
        List<DelayedMessage> messages = IntStream.range(0, HERD)
            .mapToObj((number) -> DelayedMessage.builder("herd", new Member(number, "x".repeat(80))).dueAt(due).build())
            .toList();
        long start = System.nanoTime();
        application.queue().sendAll(messages);
        long sent = System.nanoTime() - start;
        redis.commands().configResetstat();
        assertThat(herd.first.await(2, TimeUnit.MINUTES)).isTrue();
        start = System.nanoTime();
        assertThat(herd.all.await(5, TimeUnit.MINUTES)).isTrue();
        long handled = System.nanoTime() - start;
        assertThat(herd.numbers).hasSize(HERD);
        assertThat(herd.early).hasValue(0);
        System.out.printf("Round %d: %,d sent in %d ms, handled in %d ms; load %.2f on %d cores%n", round, HERD,
                sent / 1_000_000, handled / 1_000_000,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                Runtime.getRuntime().availableProcessors());
        String latencies = redis.commands().info("latencystats");
        latencies.lines()
            .filter((line) -> line.contains("evalsha"))
            .forEach((line) -> System.out.println("  scripts, microseconds: " + line));
    }

    record Member(int number, String text) {
    }

    static class Herd {

        private final Set<Integer> numbers = ConcurrentHashMap.newKeySet();

        private final AtomicInteger early = new AtomicInteger();

        private volatile CountDownLatch first = new CountDownLatch(1);

        private volatile CountDownLatch all = new CountDownLatch(HERD);

        void reset() {
            this.numbers.clear();
            this.first = new CountDownLatch(1);
            this.all = new CountDownLatch(HERD);
        }

        @DelayedListener("herd")
        void handle(Member member, Delivery delivery) {
            if (delivery.lateness().compareTo(Duration.ZERO) < 0) {
                this.early.incrementAndGet();
            }
            this.numbers.add(member.number());
            this.first.countDown();
            this.all.countDown();
        }

    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class HerdConfiguration {

        @Bean
        Herd herd() {
            return new Herd();
        }

    }

}
