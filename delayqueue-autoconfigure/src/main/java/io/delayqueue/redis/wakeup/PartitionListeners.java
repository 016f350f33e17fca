package io.delayqueue.redis.wakeup;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUpSignal;
import io.delayqueue.store.WakeUps;
import org.jspecify.annotations.Nullable;

/**
 * Holds the listeners of one partition. Passes each wake-up on to them, and makes them
 * poll whenever Redis confirms the subscription, because earlier wake-ups are lost.
 * <p>
 * <strong>Threads.</strong> Any thread adds and removes; the connection's thread
 * notifies, and records the server's confirmation. One thread subscribes, and alone
 * touches that state.
 */
final class PartitionListeners {

    private static final Pattern BODY = Pattern.compile(
            "\\+(?<in>\\d{1,18}):(?<due>\\d{1,15})|k(?<next>\\d{0,15}):(?<load>\\d{1,6}):(?<node>[A-Za-z0-9]{1,40})|v");

    private static final byte[] SCHEDULES = { 's' };

    private static final byte[] ZADD = "zadd".getBytes(StandardCharsets.US_ASCII);

    private final Partition partition;

    private final String topic;

    private final List<WakeUps.Listener> listeners = new CopyOnWriteArrayList<>();

    /** Runs a task after a short while; set for keyspace notifications. */
    private final @Nullable Consumer<Runnable> later;

    private final AtomicBoolean pausing = new AtomicBoolean();

    private boolean subscribed;

    /** Whether the server confirmed, and the connection was not lost since. */
    private volatile boolean confirmed;

    private @Nullable ScheduledFuture<?> pendingEnd;

    /**
     * Creates a subscription without listeners.
     * @param topic the channel of the scripts, or the pattern of Redis' own notifications
     * @param later runs a task after a short while, so that the many notifications of
     * Redis itself are passed on as one; {@code null} if scripts publish
     */
    PartitionListeners(Partition partition, String topic, @Nullable Consumer<Runnable> later) {
        this.partition = partition;
        this.topic = topic;
        this.later = later;
    }

    Partition partition() {
        return this.partition;
    }

    String topic() {
        return this.topic;
    }

    void add(WakeUps.Listener listener) {
        this.listeners.add(listener);
    }

    void remove(WakeUps.Listener listener) {
        this.listeners.remove(listener);
    }

    boolean isEmpty() {
        return this.listeners.isEmpty();
    }

    /** Returns whether the server confirmed; called by any thread. */
    boolean isConfirmed() {
        return this.confirmed;
    }

    boolean isSubscribed() {
        return this.subscribed;
    }

    void subscribed(boolean subscribed) {
        this.subscribed = subscribed;
        if (!subscribed) {
            lost(); // never sets true, as the server may confirm meanwhile
        }
    }

    /** Awaits another confirmation of the server; called by any thread. */
    void lost() {
        this.confirmed = false;
    }

    /** Cancels the pending end, as there is a listener again. */
    void cancelPendingEnd() {
        if (this.pendingEnd != null) {
            this.pendingEnd.cancel(false);
            this.pendingEnd = null;
        }
    }

    void pendingEnd(@Nullable ScheduledFuture<?> pendingEnd) {
        this.pendingEnd = pendingEnd;
    }

    /** Records that the server confirmed; called by the connection's threads. */
    void confirmed() {
        this.confirmed = true;
        poll();
    }

    /** Makes the listeners poll, as they may have missed messages. */
    void poll() {
        publish(WakeUpSignal.POLL_NOW);
    }

    private void publish(WakeUpSignal signal) {
        this.listeners.forEach((listener) -> listener.onWakeUp(signal));
    }

    /** Handles a message; called by the connection's threads. */
    void received(byte[] body) {
        if (this.later == null) {
            publish(signalOf(body));
        }
        else if (Arrays.equals(body, ZADD) && this.pausing.compareAndSet(false, true)) {
            this.later.accept(() -> {
                this.pausing.set(false);
                poll();
            });
        }
    }

    /**
     * Parses a message of a script, in the forms that prelude.lua lists; any other is a
     * signal to poll.
     */
    static WakeUpSignal signalOf(byte[] body) {
        if (Arrays.equals(body, SCHEDULES)) {
            return WakeUpSignal.SCHEDULES_CHANGED;
        }
        Matcher text = BODY.matcher(new String(body, StandardCharsets.ISO_8859_1));
        if (!text.matches()) {
            return WakeUpSignal.POLL_NOW;
        }
        String in = text.group("in");
        String node = text.group("node");
        if (in != null) {
            return WakeUpSignal.dueIn(Duration.of(Long.parseLong(in), ChronoUnit.MICROS),
                    Instant.ofEpochMilli(Long.parseLong(text.group("due"))));
        }
        if (node == null) {
            return WakeUpSignal.NO_PRIMARY;
        }
        String next = text.group("next");
        return WakeUpSignal.primaryPolled(next.isEmpty() ? null : Duration.ofMillis(Long.parseLong(next)),
                new WakeUpSignal.PrimaryPoller(node, Integer.parseInt(text.group("load"))));
    }

}
