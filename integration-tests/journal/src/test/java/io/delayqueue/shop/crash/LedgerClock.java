package io.delayqueue.shop.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.delayqueue.DelayedListener;
import io.delayqueue.template.DelayQueueTemplate;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * An application of several nodes whose clocks differ. With {@code clock.node} it sends
 * messages with delays to a ledger. Lines of a file have the earliest time of each
 * message, and the time of each handling, all on the clock of Redis:
 * {@code EARLIEST id millis} and {@code HANDLED id millis}.
 */
@EnableAutoConfiguration
class LedgerClock {

    /** Longer than a claim of a row with the command timeout of the processes. */
    static final Duration DELAY = Duration.ofSeconds(15);

    /** The messages that each sender sends. */
    static final List<String> MESSAGES = List.of("deferred", "direct", "moved", "left");

    private static final String QUEUE = "clocks";

    private final DelayQueueTemplate queue;

    private final StringRedisTemplate redis;

    private final TransactionTemplate transaction;

    private final Path file;

    LedgerClock(DelayQueueTemplate queue, StringRedisTemplate redis, PlatformTransactionManager transactions,
            Environment environment) {
        this.queue = queue;
        this.redis = redis;
        this.transaction = new TransactionTemplate(transactions);
        this.file = Path.of(environment.getRequiredProperty("crash.handled"));
    }

    public static void main(String[] arguments) {
        ConfigurableApplicationContext context = SpringApplication.run(LedgerClock.class, arguments);
        String node = context.getEnvironment().getProperty("clock.node");
        if (node != null) {
            context.getBean(LedgerClock.class)
                .send(node, context.getBean("delayQueueJournalRelay", SmartLifecycle.class));
        }
        System.out.println("READY " + Instant.now());
    }

    /** Sends all messages, the last of which this node does not offer to Redis. */
    private void send(String node, SmartLifecycle relay) {
        String deferred = earliest("deferred-" + node);
        this.transaction.executeWithoutResult((status) -> this.queue.send(QUEUE, deferred, deferred, DELAY));
        String direct = earliest("direct-" + node);
        this.queue.send(QUEUE, direct, direct, DELAY);
        this.queue.send(QUEUE, "moved-" + node, "moved-" + node, Duration.ofHours(3));
        this.queue.reschedule(QUEUE, earliest("moved-" + node), DELAY);
        relay.stop();
        String left = earliest("left-" + node);
        this.transaction.executeWithoutResult((status) -> this.queue.send(QUEUE, left, left, DELAY));
    }

    private String earliest(String id) {
        write("EARLIEST %s %d%n".formatted(id, now() + DELAY.toMillis()));
        return id;
    }

    @DelayedListener(QUEUE)
    void handle(String id) {
        write("HANDLED %s %d%n".formatted(id, now()));
    }

    /**
     * Returns the time of Redis, in milliseconds since the epoch, or a little earlier.
     */
    private long now() {
        Long millis = this.redis
            .execute((RedisCallback<Long>) (RedisConnection connection) -> connection.serverCommands().time());
        return millis;
    }

    private void write(String line) {
        try {
            Files.writeString(this.file, line, StandardCharsets.UTF_8, StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

}
