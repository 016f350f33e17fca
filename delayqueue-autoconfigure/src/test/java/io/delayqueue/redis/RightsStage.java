package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterReason;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.Pause;
import io.delayqueue.testing.ManualClock;
import org.jspecify.annotations.Nullable;

/**
 * Puts a queue into a state by calls of a user who has all rights, and remembers the
 * leases and dead letters that came of it.
 */
public final class RightsStage {

    public static final Partition QUEUE = Partition.first(new QueueName("rights"));

    public static final PartitionTarget HOME = PartitionTarget.first(QUEUE.queue());

    public static final PartitionLayout PAUSED = new PartitionLayout(3, List.of(1), true, new Pause(null));

    public static final Duration LEASE = Duration.ofSeconds(30);

    private final RedisScriptExecutor redis;

    private final AtomicLong micros;

    private final List<Lease> leases = new ArrayList<>();

    private final List<Lease> dead = new ArrayList<>();

    public RightsStage(RedisScriptExecutor redis, AtomicLong micros) {
        this.redis = redis;
        this.micros = micros;
        micros.set(new ManualClock().getAsLong());
    }

    RedisMessageStore store() {
        return new RedisMessageStore(this.redis);
    }

    RedisPartitionLayoutStore records() {
        return new RedisPartitionLayoutStore(this.redis);
    }

    RedisNodeRegistry nodes() {
        return new RedisNodeRegistry(this.redis);
    }

    RedisQueueRegistry queues() {
        return new RedisQueueRegistry(this.redis);
    }

    /** The leases that the last claim gave. */
    public List<Lease> leases() {
        return this.leases.isEmpty() ? List.of(new Lease(QUEUE, "a", "1")) : this.leases;
    }

    /** Names the dead letter of the scene, if there is one. */
    public String letter() {
        return (this.dead.isEmpty() ? leases() : this.dead).get(0).letterId();
    }

    public static NewMessage message(String id, String content, Duration delay, int lane, @Nullable Duration timeToLive,
            @Nullable String group, OnDuplicate onDuplicate) {
        return new NewMessage(id, false, DueTime.after(delay), onDuplicate, lane, timeToLive, group, envelope(content),
                content.hashCode());
    }

    static byte[] envelope(String content) {
        return "{\"payload\":\"%s\"}".formatted(content).getBytes(StandardCharsets.UTF_8);
    }

    void send(NewMessage... messages) {
        done(store().schedule(HOME, List.of(messages)));
    }

    /** Leases what is due. */
    void claim(Duration lease) {
        this.leases.clear();
        ClaimResult claim = done(store().claim(QUEUE, new ClaimRequest(10, lease, ExpiryPolicy.DROP)));
        claim.messages().stream().map(ClaimedMessage::lease).forEach(this.leases::add);
    }

    void retry(Duration delay) {
        leases().forEach((lease) -> done(store().retry(lease, delay, "boom")));
    }

    void release() {
        done(store().release(QUEUE, leases(), Duration.ZERO));
    }

    void extend(Duration lease) {
        done(store().extend(QUEUE, leases(), lease));
    }

    void start() {
        leases().forEach((lease) -> done(store().start(lease)));
    }

    void die() {
        leases()
            .forEach((lease) -> done(store().deadLetter(lease, new DeadLetterReason("boom", true, ManualClock.START))));
        this.dead.addAll(leases());
        this.leases.clear();
    }

    void cancel(String id) {
        done(store().cancel(HOME, id));
    }

    void advance(Duration time) {
        this.micros.addAndGet(time.toNanos() / 1_000);
    }

    static <T> T done(CompletableFuture<T> answer) {
        return answer.join();
    }

}
