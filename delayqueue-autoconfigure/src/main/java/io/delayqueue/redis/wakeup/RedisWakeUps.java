package io.delayqueue.redis.wakeup;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.script.RedisKeys;
import io.delayqueue.store.DaemonThreads;
import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.WakeUps;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Subscribes to wake-ups by Redis' pub/sub. One connection serves all queues of the
 * process; keyspace notifications of a cluster need one to every master, as each node
 * publishes its own only. A queue's subscription and the connection are closed a little
 * after the last listener leaves, so that receiving in a loop does not reconnect each
 * time.
 * <p>
 * Ends its connection with the application's life cycle, before the connection factory
 * ends; a restart renews the subscriptions that have listeners.
 * <p>
 * <strong>Threads.</strong> {@code listen} and {@code close} only record what is wanted;
 * one thread, {@code delayqueue-wake-ups}, makes the calls that wait for Redis, and alone
 * touches the subscriptions. Listeners are called on a connection's thread, or on that
 * one.
 */
public final class RedisWakeUps implements WakeUps, SmartLifecycle, AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(RedisWakeUps.class);

    private static final Duration STOP_LIMIT = Duration.ofSeconds(2);

    private static final Duration LINGER = Duration.ofSeconds(30);

    /** In keyspace mode every write is an event: at most one poll in this time. */
    private static final Duration KEYSPACE_PAUSE = Duration.ofMillis(10);

    /** After the connection factory (0), before the workers. */
    private static final int PHASE = 1_000;

    private final RedisConnectionFactory factory;

    private final RedisScriptExecutor redis;

    private final WakeUpMode mode;

    private final Duration linger;

    /** Period of the heartbeats. */
    private final Duration period;

    private final Map<Partition, PartitionListeners> subscriptions = new ConcurrentHashMap<>();

    private final ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1,
            DaemonThreads.named("delayqueue-wake-ups"));

    private @Nullable WakeUpConnection connection;

    private volatile boolean running = true;

    public RedisWakeUps(RedisConnectionFactory factory, RedisScriptExecutor redis, WakeUpMode mode) {
        this(factory, redis, mode, LINGER);
    }

    RedisWakeUps(RedisConnectionFactory factory, RedisScriptExecutor redis, WakeUpMode mode, Duration linger) {
        this(factory, redis, mode, linger, SubscriptionHeartbeat.PERIOD);
    }

    RedisWakeUps(RedisConnectionFactory factory, RedisScriptExecutor redis, WakeUpMode mode, Duration linger,
            Duration period) {
        this.linger = linger;
        this.period = period;
        this.thread.setRemoveOnCancelPolicy(true);
        this.thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        this.factory = factory;
        this.redis = redis;
        this.mode = mode;
    }

    @Override
    public Subscription listen(Partition queue, Listener listener) {
        if (this.mode == WakeUpMode.TIMER) {
            return () -> {
            };
        }
        PartitionListeners ofQueue = this.subscriptions.compute(queue, (name, present) -> {
            PartitionListeners wanted = (present != null) ? present : listenersOf(name);
            wanted.add(listener);
            return wanted;
        });
        submit(() -> {
            ofQueue.cancelPendingEnd();
            if (ofQueue.isSubscribed()) {
                // Others poll when the server confirms their subscription.
                listener.onWakeUp(WakeUpSignal.POLL_NOW);
            }
            else {
                subscribe(ofQueue);
            }
        });
        AtomicBoolean ended = new AtomicBoolean();
        return () -> {
            if (ended.compareAndSet(false, true)) {
                end(queue, listener);
            }
        };
    }

    @Override
    public boolean isSubscribed(Partition partition) {
        PartitionListeners listeners = this.subscriptions.get(partition);
        return this.mode == WakeUpMode.TIMER || (listeners != null && listeners.isConfirmed());
    }

    @Override
    public boolean announcesPrimaryPollers() {
        return this.mode == WakeUpMode.CHANNEL;
    }

    private void end(Partition queue, Listener listener) {
        this.subscriptions.computeIfPresent(queue, (name, present) -> {
            present.remove(listener);
            if (present.isEmpty()) {
                submit(() -> unsubscribeLater(present));
            }
            return present;
        });
    }

    private void unsubscribeLater(PartitionListeners queue) {
        queue.cancelPendingEnd();
        if (this.linger.isZero() || !queue.isSubscribed()) {
            unsubscribeIfEmpty(queue);
        }
        else if (queue.isEmpty()) {
            queue.pendingEnd(later(() -> unsubscribeIfEmpty(queue), this.linger));
        }
    }

    private void unsubscribeIfEmpty(PartitionListeners queue) {
        this.subscriptions.computeIfPresent(queue.partition(),
                (name, present) -> (present == queue && present.isEmpty()) ? null : present);
        if (this.subscriptions.get(queue.partition()) != queue) {
            unsubscribe(queue);
        }
    }

    private void submit(Runnable task) {
        later(task, Duration.ZERO);
    }

    private @Nullable ScheduledFuture<?> later(Runnable task, Duration delay) {
        try {
            return this.thread.schedule(task, delay.toMillis(), TimeUnit.MILLISECONDS);
        }
        catch (RejectedExecutionException ex) {
            logger.debug("Wake-ups are closed already");
            return null;
        }
    }

    private void subscribe(PartitionListeners queue) {
        if (this.running && !queue.isSubscribed() && !queue.isEmpty()) {
            if (this.connection == null) {
                this.connection = connect();
            }
            this.connection.add(queue);
            queue.subscribed(true);
        }
    }

    private WakeUpConnection connect() {
        return RedisScriptExecutor.isLettuce(this.factory)
                ? new LettuceWakeUpConnection((LettuceConnectionFactory) this.factory, this.mode, this.thread,
                        this.period)
                : new BlockingWakeUpConnection(this.factory, this.mode, this.redis.controlChannel(), this.thread,
                        this.period);
    }

    private PartitionListeners listenersOf(Partition partition) {
        RedisKeys keys = this.redis.keysOf(partition);
        if (this.mode == WakeUpMode.KEYSPACE) {
            return new PartitionListeners(partition, keys.keyspacePattern(), (task) -> later(task, KEYSPACE_PAUSE));
        }
        return new PartitionListeners(partition, keys.wake(), null);
    }

    private void unsubscribe(PartitionListeners queue) {
        boolean subscribed = queue.isSubscribed();
        queue.subscribed(false);
        if (this.subscriptions.isEmpty()) {
            disconnect();
        }
        else if (subscribed && this.connection != null) {
            this.connection.remove(queue);
        }
    }

    private void subscribeAll() {
        List.copyOf(this.subscriptions.values()).forEach(this::subscribe);
    }

    private void disconnect() {
        WakeUpConnection old = this.connection;
        this.connection = null;
        this.subscriptions.values().forEach((queue) -> queue.subscribed(false));
        if (old != null) {
            old.close();
        }
    }

    @Override
    public void start() {
        this.running = true;
        submit(this::subscribeAll);
    }

    /** Waits a short time until the connection has ended. */
    @Override
    public void stop() {
        this.running = false;
        try {
            this.thread.submit(this::disconnect).get(STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        catch (ExecutionException | TimeoutException | RejectedExecutionException ex) {
            logger.debug("The subscription has not ended yet", ex);
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

    @Override
    public void close() {
        this.running = false;
        this.subscriptions.clear();
        submit(this::disconnect);
        submit(this.thread::shutdown);
    }

}
