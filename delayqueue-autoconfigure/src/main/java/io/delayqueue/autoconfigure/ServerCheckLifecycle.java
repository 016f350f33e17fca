package io.delayqueue.autoconfigure;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import io.delayqueue.redis.UnsuitableRedisException;
import io.delayqueue.redis.check.RedisServerCheck;
import io.delayqueue.store.DaemonThreads;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;

/**
 * Checks the server when the application starts: an unsuitable server fails the start. An
 * unavailable server does not; it is checked when it is back, and problems are logged
 * then.
 * <p>
 * <strong>Threads.</strong> {@code start} and {@code stop} are the application's; a
 * thread exists only while it waits for an unavailable server.
 */
final class ServerCheckLifecycle implements SmartLifecycle {

    private static final Logger logger = LoggerFactory.getLogger(ServerCheckLifecycle.class);

    /** After the connection factory (0), long before the listeners. */
    private static final int PHASE = 1_000;

    private static final Duration PAUSE = Duration.ofSeconds(5);

    private final RedisServerCheck check;

    private final Duration limit;

    private volatile boolean running;

    private volatile @Nullable ScheduledExecutorService waiting;

    ServerCheckLifecycle(RedisServerCheck check, Duration limit) {
        this.check = check;
        this.limit = limit;
    }

    @Override
    public void start() {
        this.running = true;
        if (!this.check.run(this.limit)) {
            logger.warn("Redis is not reachable, or cannot be written to, at the moment; the application starts "
                    + "anyway. Messages cannot be sent until it is, and listeners begin by themselves then");
            ScheduledExecutorService executor = Executors
                .newSingleThreadScheduledExecutor(DaemonThreads.named("delayqueue-server-check"));
            this.waiting = executor;
            executor.scheduleWithFixedDelay(this::checkAgain, PAUSE.toMillis(), PAUSE.toMillis(),
                    TimeUnit.MILLISECONDS);
        }
    }

    private void checkAgain() {
        try {
            if (this.check.run(this.limit)) {
                stopWaiting();
            }
        }
        catch (UnsuitableRedisException ex) {
            logger.error("Messages cannot be kept on this Redis server. {}. {}", ex.getMessage(), ex.remedy());
            stopWaiting();
        }
    }

    private void stopWaiting() {
        ScheduledExecutorService executor = this.waiting;
        if (executor != null) {
            executor.shutdown();
        }
    }

    @Override
    public void stop() {
        this.running = false;
        ScheduledExecutorService executor = this.waiting;
        if (executor != null) {
            executor.shutdownNow();
            this.waiting = null;
        }
    }

    @Override
    public boolean isRunning() {
        return this.running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

}
