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
 * Who listens to one partition: tells them what Redis publishes, and to look at every
 * subscription, as something may have been missed before.
 * <p>
 * <strong>Threads.</strong> Any thread adds and removes; the connection's thread tells,
 * and notes what the server confirms. The state of the subscription is touched by one
 * thread only, which subscribes.
 */
final class PartitionSubscription implements MessageListener, SubscriptionListener {

    private static final Pattern BODY = Pattern
        .compile("\\+(?<in>\\d{1,15})|k(?<next>\\d{0,15}):(?<load>\\d{1,6}):(?<node>[A-Za-z0-9]{1,40})|v");

    private static final byte[] ZADD = "zadd".getBytes(StandardCharsets.US_ASCII);

    private final Partition partition;

    private final Topic topic;

    private final List<WakeUps.Listener> listeners = new CopyOnWriteArrayList<>();

    /** Where keys and not scripts tell: runs a task after a short while. */
    private final @Nullable Consumer<Runnable> later;

    private final AtomicBoolean pausing = new AtomicBoolean();

    private boolean subscribed;

    /** Whether the server has said so, and the connection was not lost since. */
    private volatile boolean confirmed;

    private @Nullable ScheduledFuture<?> leaving;

    /**
     * Creates it without listeners.
     * @param topic the channel of the scripts, or the pattern of Redis' own notifications
     * @param later runs a task after a short while, so that the many notifications of
     * Redis itself are told at once; {@code null} if scripts tell
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

    /** Asked by any thread. */
    boolean isConfirmed() {
        return this.confirmed;
    }

    boolean isSubscribed() {
        return this.subscribed;
    }

    void subscribed(boolean subscribed) {
        this.subscribed = subscribed;
        if (!subscribed) {
            lost(); // and no other write: the server may confirm meanwhile
        }
    }

    /** Nothing is heard until the server confirms again; called by any thread. */
    void lost() {
        this.confirmed = false;
    }

    /** Whoever has listened again: no end is near. */
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
     * What a script published, as prelude.lua lists it; anything else says to look.
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
