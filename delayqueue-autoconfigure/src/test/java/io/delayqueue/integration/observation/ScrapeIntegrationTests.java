package io.delayqueue.integration.observation;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.delayqueue.actuator.QueueGauges;
import io.delayqueue.actuator.StatisticsCache;
import io.delayqueue.fixtures.application.Application;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.redis.RedisBinary;
import io.delayqueue.fixtures.redis.RedisServer;
import io.delayqueue.listener.DelayedListenerLifecycle;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.store.RemoteConsumerQueues;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** Counts the Redis calls of scrapes. */
@Tag("server")
class ScrapeIntegrationTests {

    private static final int PARTITIONS = 4;

    private static final Duration INTERVAL = Duration.ofMillis(500);

    @RegisterExtension
    final Applications applications = new Applications();

    @Test
    void costOneCallPerPartitionAndIntervalHoweverManyThereAre() {
        try (RedisServer redis = RedisServer.start(RedisBinary.preferred());
                Application application = this.applications.withHandler(redis, "test.queues=orders,bills",
                        "delayqueue.queues.bills.partitions=" + (PARTITIONS - 1),
                        "delayqueue.metrics.interval=" + INTERVAL.toMillis() + "ms")) {
            List<MeterRegistry> registries = IntStream.range(0, 5).mapToObj((i) -> registry(application)).toList();
            // Claims count as well.
            application.listener().stop();
            Applications.await(() -> assertThat(scrape(registries)).isEqualTo(12 * 5));

            long start = System.nanoTime();
            long before = calls(redis);
            for (int scrapes = 0; scrapes < 500 || calls(redis) - before < 2 * PARTITIONS; scrapes++) {
                scrape(registries);
            }
            long calls = calls(redis) - before;
            long intervals = (System.nanoTime() - start) / INTERVAL.toNanos();
            assertThat(calls).isLessThanOrEqualTo((intervals + 2) * PARTITIONS).isGreaterThanOrEqualTo(2 * PARTITIONS);
        }
    }

    private static MeterRegistry registry(Application application) {
        MeterRegistry registry = new SimpleMeterRegistry();
        new QueueGauges(registry, application.context().getBean(DelayedListenerRegistry.class),
                application.context().getBean(StatisticsCache.class),
                application.context().getBean(DelayedListenerLifecycle.class),
                application.context().getBean(RemoteConsumerQueues.class))
            .start();
        return registry;
    }

    /** The number of gauges of queues with a value. */
    private static long scrape(List<MeterRegistry> registries) {
        return registries.stream()
            .flatMap((registry) -> registry.getMeters().stream())
            .filter((meter) -> meter instanceof Gauge gauge && !Double.isNaN(gauge.value()))
            .count();
    }

    /**
     * The script that counts looks once for leases that ran out; of an empty queue it
     * counts nothing else.
     */
    private static long calls(RedisServer redis) {
        return redis.commands()
            .info("commandstats")
            .lines()
            .filter((line) -> line.startsWith("cmdstat_get:calls="))
            .mapToLong((line) -> Long.parseLong(line.substring("cmdstat_get:calls=".length(), line.indexOf(','))))
            .sum();
    }

}
