package io.delayqueue.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;

import io.delayqueue.MessageListing;
import io.delayqueue.OnDuplicate;
import io.delayqueue.engine.ClaimRequest;
import io.delayqueue.engine.Death;
import io.delayqueue.engine.DueTime;
import io.delayqueue.engine.EnvelopeCodec;
import io.delayqueue.engine.ExpiredPolicy;
import io.delayqueue.engine.KeeperBid;
import io.delayqueue.engine.Lease;
import io.delayqueue.engine.NewMessage;
import io.delayqueue.engine.Partitions;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import static io.delayqueue.redis.RightsStage.HOME;
import static io.delayqueue.redis.RightsStage.LEASE;
import static io.delayqueue.redis.RightsStage.QUEUE;

/**
 * Lists the calls that are tried in each state, at least one for each branch of a script.
 * A call uses the store of the user who lacks a right, and what the stage remembers.
 */
final class RightsCalls {

    private static final Duration HOUR = Duration.ofHours(1);

    private final Map<String, Call> calls = new LinkedHashMap<>();

    /**
     * Those of a scene: what does not change messages is tried with one shape of them.
     */
    static Map<String, Call> in(String scene) {
        RightsCalls all = new RightsCalls();
        all.addSends();
        all.addClaims();
        all.addSettlements();
        all.addSteering();
        if (RightsScenes.isTriedWithAll(scene)) {
            all.addSettings();
            all.addLooks();
        }
        return all.calls;
    }

    private void addSends() {
        send("send a", sent("a", null, null, OnDuplicate.KEEP));
        send("send x", sent("x", null, null, OnDuplicate.KEEP));
        send("send x and y", sent("x", null, null, OnDuplicate.KEEP), sent("y", null, null, OnDuplicate.KEEP));
        send("send x with a time to live", sent("x", HOUR, null, OnDuplicate.KEEP));
        send("send x of a group", sent("x", null, "g", OnDuplicate.KEEP));
        send("replace a by a plain message", sent("a", null, null, OnDuplicate.REPLACE));
        send("replace a by one with a time to live", sent("a", HOUR, null, OnDuplicate.REPLACE));
        send("replace a in its group", sent("a", null, "g", OnDuplicate.REPLACE));
        send("replace a in its group by one with a time to live", sent("a", HOUR, "g", OnDuplicate.REPLACE));
        send("send x, replace b, send y of the group", sent("x", null, null, OnDuplicate.KEEP),
                sent("b", null, "g", OnDuplicate.REPLACE), sent("y", HOUR, "g", OnDuplicate.KEEP));
        this.calls.put("replace a if it is held",
                (own, stage) -> own.store().scheduleIfHeld(HOME, List.of(sent("a", null, "g", OnDuplicate.REPLACE))));
    }

    private void send(String name, NewMessage... messages) {
        this.calls.put(name, (own, stage) -> own.store().schedule(HOME, List.of(messages)));
    }

    private static NewMessage sent(String id, @Nullable Duration timeToLive, @Nullable String group,
            OnDuplicate onDuplicate) {
        return RightsStage.message(id, "call-" + id, Duration.ofSeconds(5), 4, timeToLive, group, onDuplicate);
    }

    private void addClaims() {
        claim("claim one", new ClaimRequest(1, LEASE, ExpiredPolicy.DROP));
        claim("claim and bury", new ClaimRequest(10, LEASE, ExpiredPolicy.DEAD_LETTER));
        claim("claim and keep", new ClaimRequest(10, LEASE, ExpiredPolicy.DROP,
                new KeeperBid("node2", KeeperBid.Kind.CONFIRM, 0, HOUR)));
        claim("claim as the keeper",
                new ClaimRequest(10, LEASE, ExpiredPolicy.DROP, new KeeperBid("node1", KeeperBid.Kind.HOLD, 0, HOUR)));
        this.calls.put("resign", (own, stage) -> own.store().resign(QUEUE, "node1"));
    }

    private void claim(String name, ClaimRequest request) {
        this.calls.put(name, (own, stage) -> own.store().claim(QUEUE, request));
    }

    private void addSettlements() {
        this.calls.put("acknowledge", (own, stage) -> own.store().acknowledge(QUEUE, stage.leases()));
        this.calls.put("acknowledge one", (own, stage) -> own.store().acknowledge(QUEUE, stage.leases().subList(0, 1)));
        this.calls.put("retry", (own, stage) -> own.store().retry(first(stage), LEASE, "failed"));
        this.calls.put("release", (own, stage) -> own.store().release(QUEUE, stage.leases(), LEASE));
        this.calls.put("dead-letter",
                (own, stage) -> own.store().deadLetter(first(stage), new Death("failed", true, Instant.EPOCH)));
        this.calls.put("extend", (own, stage) -> own.store().extend(QUEUE, stage.leases(), HOUR.multipliedBy(2)));
        this.calls.put("start", (own, stage) -> own.store().start(first(stage)));
    }

    private static Lease first(RightsStage stage) {
        return stage.leases().get(0);
    }

    private void addSteering() {
        for (String id : List.of("a", "b")) {
            this.calls.put("cancel " + id, (own, stage) -> own.store().cancel(HOME, id));
        }
        for (Duration delay : List.of(Duration.ZERO, HOUR)) {
            this.calls.put("reschedule a to " + delay,
                    (own, stage) -> own.store().reschedule(HOME, "a", DueTime.after(delay)));
        }
        this.calls.put("redrive", (own, stage) -> own.store().redrive(HOME, stage.letter()));
        this.calls.put("purge a letter", (own, stage) -> own.store().purge(QUEUE, stage.letter()));
        this.calls.put("purge all letters", (own, stage) -> own.store().purgeOlderThan(QUEUE, Duration.ZERO));
    }

    private void addSettings() {
        this.calls.put("pause", (own, stage) -> own.records().raise(QUEUE, new Partitions(9, List.of(1), true)));
        this.calls.put("spread", (own, stage) -> own.records().found(QUEUE.queue(), 4));
        this.calls.put("spread anew", (own, stage) -> own.records()
            .replace(QUEUE.queue(), Optional.of(RightsStage.PAUSED), new Partitions(4, List.of(1, 2), true)));
        this.calls.put("report a node", (own, stage) -> own.nodes().report("another", new byte[] { 'z' }));
        this.calls.put("remove a node", (own, stage) -> own.nodes().remove("node"));
        this.calls.put("list nodes", (own, stage) -> own.nodes().list());
        this.calls.put("add a queue", (own, stage) -> own.queues().add(QUEUE.queue()));
        this.calls.put("remove a queue", (own, stage) -> own.queues().remove(QUEUE.queue()));
        this.calls.put("list queues", (own, stage) -> own.queues().list("", 10));
    }

    private void addLooks() {
        EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());
        look("find", (redis) -> new RedisMessageInspector(redis, codec).find(HOME, "a"));
        look("statistics", (redis) -> new RedisMessageInspector(redis, codec).statistics(QUEUE));
        look("list dead letters", (redis) -> new RedisMessageInspector(redis, codec).deadLetters(QUEUE, null, 10));
        look("horizon", (redis) -> new RedisQueueInspector(redis).horizon(QUEUE));
        Stream.of(MessageListing.values())
            .forEach((listing) -> look("list " + listing,
                    (redis) -> new RedisQueueInspector(redis).messages(QUEUE, listing, null, 10)));
        look("survey", (redis) -> redis.run(RedisScripts.SURVEY, QUEUE));
        for (int key : new int[] { KeyCommands.MESSAGES, KeyCommands.LEASED, KeyCommands.HEADS, KeyCommands.LETTERS }) {
            look("examine key " + key, (redis) -> redis.run(RedisScripts.EXAMINE, QUEUE, Replies.bytes(key),
                    Replies.bytes(0), Replies.bytes(100)));
        }
    }

    private void look(String name, Function<RedisAccess, CompletableFuture<?>> look) {
        this.calls.put(name, (own, stage) -> look.apply(own.redis()));
    }

    /**
     * Provides the stores of a user.
     *
     * @param redis connected as that user
     */
    record User(RedisAccess redis) {

        RedisMessageStore store() {
            return new RedisMessageStore(this.redis);
        }

        RedisPartitionRecords records() {
            return new RedisPartitionRecords(this.redis);
        }

        RedisNodeDirectory nodes() {
            return new RedisNodeDirectory(this.redis);
        }

        RedisQueueDirectory queues() {
            return new RedisQueueDirectory(this.redis);
        }

    }

    /** Makes one call as the user who lacks a right. */
    interface Call {

        CompletableFuture<?> make(User own, RightsStage stage);

    }

}
