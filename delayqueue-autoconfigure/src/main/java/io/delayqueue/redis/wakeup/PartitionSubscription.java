package io.delayqueue.redis.wakeup;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
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

import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.SubscriptionListener;
import org.springframework.data.redis.listener.Topic;

/**
 * Notifies the listeners of one partition of each message that Redis publishes, and makes
 * them poll after every subscription, as they may have missed messages before.
 * <p>
 * <strong>Threads.</strong> Any thread adds and removes; the connection's thread
 * notifies, and records the server's confirmation. One thread subscribes, and alone
 * touches that state.
 */
final class PartitionSubscription implements MessageListener, SubscriptionListener {

    private static final Pattern BODY = Pattern
        .compile("\\+(?<in>\\d{1,15})|k(?<next>\\d{0,15}):(?<load>\\d{1,6}):(?<node>[A-Za-z0-9]{1,40})|v");

    private static final byte[] ZADD = "zadd".getBytes(StandardCharsets.US_ASCII);

    private final Partition partition;

    private final Topic topic;

    private final List<WakeUps.Listener> listeners = new CopyOnWriteArrayList<>();

    /** Runs a task after a short while; set for keyspace notifications. */
    private final @Nullable Consumer<Runnable> later;

    private final AtomicBoolean pausing = new AtomicBoolean();

    private boolean subscribed;

    /** Whether the server confirmed, and the connection was not lost since. */
    private volatile boolean confirmed;

    private @Nullable ScheduledFuture<?> leaving;

    /**
     * Creates a subscription without listeners.
     * @param topic the channel of the scripts, or the pattern of Redis' own notifications
     * @param later runs a task after a short while, so that the many notifications of
     * Redis itself are passed on as one; {@code null} if scripts publish
     */
    public PartitionSubscription(Partition partition, Topic topic, @Nullable Consumer<Runnable> later) {
        this.partition = partition;
        this.topic = topic;
        this.later = later;
    }

    Partition partition() {
        return this.partition;
    }

    Topic topic() {
        return this.topic;
    }

    public void add(WakeUps.Listener listener) {
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
    void stay() {
        if (this.leaving != null) {
            this.leaving.cancel(false);
            this.leaving = null;
        }
    }

    void leaves(@Nullable ScheduledFuture<?> leaving) {
        this.leaving = leaving;
    }

    void tell(WakeUpSignal signal) {
        this.listeners.forEach((listener) -> listener.heard(signal));
    }

    @Override
    public void onMessage(Message message, byte @Nullable [] pattern) {
        if (this.later == null) {
            tell(signalOf(message.getBody()));
        }
        else if (Arrays.equals(message.getBody(), ZADD) && this.pausing.compareAndSet(false, true)) {
            this.later.accept(() -> {
                this.pausing.set(false);
                tell(WakeUpSignal.LOOK);
            });
        }
    }

    /**
     * Parses a message of a script, in the forms that prelude.lua lists; any other is a
     * signal to poll.
     */
    public static WakeUpSignal signalOf(byte[] body) {
        Matcher text = BODY.matcher(new String(body, StandardCharsets.ISO_8859_1));
        if (!text.matches()) {
            return WakeUpSignal.LOOK;
        }
        String in = text.group("in");
        String node = text.group("node");
        if (in != null) {
            return WakeUpSignal.due(Duration.ofMillis(Long.parseLong(in)));
        }
        if (node == null) {
            return WakeUpSignal.VACANT;
        }
        String next = text.group("next");
        return WakeUpSignal.kept(next.isEmpty() ? null : Duration.ofMillis(Long.parseLong(next)),
                new WakeUpSignal.Keeper(node, Integer.parseInt(text.group("load"))));
    }

    @Override
    public void onChannelSubscribed(byte[] channel, long count) {
        this.confirmed = true;
        tell(WakeUpSignal.LOOK);
    }

    @Override
    public void onPatternSubscribed(byte[] pattern, long count) {
        this.confirmed = true;
        tell(WakeUpSignal.LOOK);
    }

    @Override
    public void onChannelUnsubscribed(byte[] channel, long count) {
        lost();
    }

    @Override
    public void onPatternUnsubscribed(byte[] pattern, long count) {
        lost();
    }

}
