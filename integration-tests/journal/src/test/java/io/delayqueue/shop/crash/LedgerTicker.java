package io.delayqueue.shop.crash;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import io.delayqueue.DelayedListener;
import io.delayqueue.DelayedSchedule;
import io.delayqueue.Delivery;
import io.delayqueue.ScheduledOccurrence;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * An application whose schedule sends an occurrence to a ledger every 300 ms. Each
 * handling appends a line to a file: the nominal time, the process, and the revision of
 * the message in Redis. As a process of its own it suspends a thread at a point as
 * {@link LedgerShop} does.
 */
@EnableAutoConfiguration
class LedgerTicker {

    static final String TICKS = "ticks";

    static final String TICK = "tick";

    static final int RATE_MILLIS = 300;

    private final Path handled;

    private final StringRedisTemplate redis;

    LedgerTicker(Environment environment, StringRedisTemplate redis) {
        this.redis = redis;
        this.handled = Path.of(environment.getRequiredProperty("crash.handled"));
    }

    public static void main(String[] arguments) {
        SpringApplication.run(LedgerTicker.class, arguments);
        System.out.println("READY ticker");
    }

    @Bean
    static BeanPostProcessor points(Environment environment) {
        return LedgerShop.points(environment);
    }

    @DelayedListener(value = TICKS, concurrency = "4")
    @DelayedSchedule(name = TICK, fixedRate = "PT0.3S", misfire = "ALL", catchUpLimit = "1000")
    void onTick(ScheduledOccurrence occurrence, Delivery delivery) throws IOException {
        Files.writeString(this.handled,
                "%d %d %s%n".formatted(occurrence.nominalTime().toEpochMilli(), ProcessHandle.current().pid(),
                        this.redis.opsForHash().get("dq:{ticks}:revisions", delivery.id())),
                StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

}
