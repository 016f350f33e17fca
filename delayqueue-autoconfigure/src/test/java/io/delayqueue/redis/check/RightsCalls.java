package io.delayqueue.redis.check;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;

import io.delayqueue.OnDuplicate;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.admin.QueueActivity.Backlog;
import io.delayqueue.fixtures.store.RightsScenes;
import io.delayqueue.fixtures.store.RightsStage;
import io.delayqueue.redis.RedisActivityStore;
import io.delayqueue.redis.RedisMessageInspector;
import io.delayqueue.redis.RedisMessageStore;
import io.delayqueue.redis.RedisNodeRegistry;
import io.delayqueue.redis.RedisPartitionLayoutStore;
import io.delayqueue.redis.RedisQueueInspector;
import io.delayqueue.redis.RedisQueueRegistry;
import io.delayqueue.redis.RedisScriptExecutor;
import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.store.ActivityReport;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PrimaryPollerBid;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import static io.delayqueue.fixtures.store.RightsStage.HOME;
import static io.delayqueue.fixtures.store.RightsStage.LEASE;
import static io.delayqueue.fixtures.store.RightsStage.QUEUE;

/**
 * Lists the calls that are tried in each state, at least one for each branch of a script.
 * A call uses the store of the user that lacks a right, and the state of the stage.
 */
final class RightsCalls {

    private static final Duration HOUR = Duration.ofHours(1);

    private final Map<String, Call> calls = new LinkedHashMap<>();

    /**
     * Lists the calls of a scene: those that change no message are tried with one shape.
     */
    static Map<String, Call> in(String scene) {
        RightsCalls all = new RightsCalls();
        all.addSends();
        all.addClaims();
        all.addSettlements();
        all.addSteering();
        if (RightsScenes.isTriedWithAll(scene)) {
            all.addSettings();
            all.addReads();
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
        claim("claim one", new ClaimRequest(1, LEASE, ExpiryPolicy.DROP));
        claim("claim with dead letters", new ClaimRequest(10, LEASE, ExpiryPolicy.DEAD_LETTER));
        claim("claim and keep", new ClaimRequest(10, LEASE, ExpiryPolicy.DROP,
                new PrimaryPollerBid("node2", PrimaryPollerBid.Kind.ACQUIRE, 0, HOUR)));
        claim("claim as the primary poller", new ClaimRequest(10, LEASE, ExpiryPolicy.DROP,
                new PrimaryPollerBid("node1", PrimaryPollerBid.Kind.RENEW, 0, HOUR)));
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
        this.calls.put("dead-letter", (own, stage) -> own.store()
            .deadLetter(first(stage), new DeadLetterRequest("failed", true, Instant.EPOCH)));
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
        this.calls.put("redrive", (own, stage) -> own.store().redrive(HOME, stage.deadLetter()));
        this.calls.put("purge a dead letter", (own, stage) -> own.store().purge(QUEUE, stage.deadLetter()));
        this.calls.put("purge all letters", (own, stage) -> own.store().purgeOlderThan(QUEUE, Duration.ZERO));
    }

    private void addSettings() {
        this.calls.put("pause", (own, stage) -> own.records().raise(QUEUE, new PartitionLayout(9, List.of(1), true)));
        this.calls.put("partition", (own, stage) -> own.records().establish(QUEUE.queue(), 4));
        this.calls.put("repartition", (own, stage) -> own.records()
            .replace(QUEUE.queue(), Optional.of(RightsStage.PAUSED), new PartitionLayout(4, List.of(1, 2), true)));
        this.calls.put("report a node", (own, stage) -> own.nodes().report("another", new byte[] { 'z' }));
        this.calls.put("remove a node", (own, stage) -> own.nodes().remove("node"));
        this.calls.put("want something of a node",
                (own, stage) -> own.nodes().change("node", new byte[0], new byte[] { 'w' }));
        this.calls.put("put the stacks of a node", (own, stage) -> own.nodes().putStacks("node", new byte[] { 's' }));
        this.calls.put("read the stacks of a node", (own, stage) -> own.nodes().stacks("node"));
        this.calls.put("list nodes", (own, stage) -> own.nodes().list());
        this.calls.put("report activity",
                (own, stage) -> own.activity()
                    .report(new ActivityReport("another", 1, Duration.ofMinutes(1),
                            Map.of(QUEUE.queue().value(), new long[ActivityReport.FIELDS]))));
        this.calls.put("record backlogs", (own, stage) -> own.activity()
            .record(stage.now(), Map.of(QUEUE.queue().value(), new Backlog(1, 1, 1, 1)), true));
        this.calls.put("read activity", (own, stage) -> own.activity().read(QUEUE.queue().value()));
        this.calls.put("add a queue", (own, stage) -> own.queues().add(QUEUE.queue()));
        this.calls.put("remove a queue", (own, stage) -> own.queues().remove(QUEUE.queue()));
        this.calls.put("list queues", (own, stage) -> own.queues().list("", 10));
    }

    private void addReads() {
        EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());
        read("find", (redis) -> new RedisMessageInspector(redis, codec).find(HOME, "a"));
        read("statistics", (redis) -> new RedisMessageInspector(redis, codec).statistics(QUEUE));
        read("list dead letters", (redis) -> new RedisMessageInspector(redis, codec).deadLetters(QUEUE, null, 10));
        read("due forecast", (redis) -> new RedisQueueInspector(redis).dueForecast(QUEUE));
        Stream.of(MessageSelection.values())
            .forEach((listing) -> read("list " + listing,
                    (redis) -> new RedisQueueInspector(redis).messages(QUEUE, listing, null, 10)));
        read("inspect partition", (redis) -> redis.run(RedisScripts.INSPECT_PARTITION, QUEUE));
        for (KeyKind key : List.of(KeyKind.MESSAGES, KeyKind.LEASED, KeyKind.GROUP_HEADS, KeyKind.DEAD_LETTERS)) {
            read("examine key " + key.number(), (redis) -> redis.run(RedisScripts.INSPECT_MESSAGES, QUEUE,
                    ScriptCodec.bytes(key.number()), ScriptCodec.bytes(0), ScriptCodec.bytes(100)));
        }
    }

    private void read(String name, Function<RedisScriptExecutor, CompletableFuture<?>> call) {
        this.calls.put(name, (own, stage) -> call.apply(own.redis()));
    }

    /**
     * Provides the stores of a user.
     *
     * @param redis connected as that user
     */
    record User(RedisScriptExecutor redis) {

        RedisMessageStore store() {
            return new RedisMessageStore(this.redis);
        }

        RedisPartitionLayoutStore records() {
            return new RedisPartitionLayoutStore(this.redis);
        }

        RedisNodeRegistry nodes() {
            return new RedisNodeRegistry(this.redis);
        }

        RedisActivityStore activity() {
            return new RedisActivityStore(this.redis);
        }

        RedisQueueRegistry queues() {
            return new RedisQueueRegistry(this.redis);
        }

    }

    /** Makes one call as the user who lacks a right. */
    interface Call {

        CompletableFuture<?> make(User own, RightsStage stage);

    }

}
