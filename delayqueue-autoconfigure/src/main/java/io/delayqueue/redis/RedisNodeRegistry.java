package io.delayqueue.redis;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.store.NodeRegistry;

import static io.delayqueue.redis.script.ScriptCodec.bytes;

/**
 * Stores the reports of nodes in Redis, by {@code nodes.lua}, and their wanted states, by
 * {@code wanted-state.lua}.
 */
public final class RedisNodeRegistry implements NodeRegistry {

    private static final int FIELDS = 3;

    private final RedisScriptExecutor redis;

    public RedisNodeRegistry(RedisScriptExecutor redis) {
        this.redis = redis;
    }

    @Override
    public CompletableFuture<NodeEntry> report(String node, byte[] report) {
        return run("report", bytes(node), report)
            .thenApply((reply) -> new NodeEntry(true, time(reply.get(0)), (byte[]) reply.get(1)));
    }

    @Override
    public CompletableFuture<Void> remove(String node) {
        return run("remove", bytes(node)).thenAccept((reply) -> {
        });
    }

    @Override
    public CompletableFuture<List<Report>> list() {
        return run("list").thenApply((reply) -> {
            List<Report> reports = new ArrayList<>();
            for (int i = 0; i < reply.size(); i += FIELDS) {
                reports
                    .add(new Report(ScriptCodec.name(reply.get(i)), (byte[]) reply.get(i + 2), time(reply.get(i + 1))));
            }
            return reports;
        });
    }

    @Override
    public CompletableFuture<NodeEntry> wanted(String node) {
        return entry("read", bytes(node));
    }

    @Override
    public CompletableFuture<NodeEntry> change(String node, byte[] before, byte[] wanted) {
        return entry("change", bytes(node), wanted, before);
    }

    @Override
    public CompletableFuture<NodeEntry> putStacks(String node, byte[] stacks) {
        return entry("put-stacks", bytes(node), stacks);
    }

    @Override
    public CompletableFuture<NodeEntry> stacks(String node) {
        return entry("stacks", bytes(node));
    }

    private CompletableFuture<NodeEntry> entry(String what, byte[]... more) {
        byte[][] arguments = new byte[2 + more.length][];
        arguments[0] = bytes(what);
        arguments[1] = bytes(MAX_AGE.toMillis());
        System.arraycopy(more, 0, arguments, 2, more.length);
        return this.redis.directory(RedisScripts.WANTED_STATE, arguments)
            .thenApply((reply) -> new NodeEntry(ScriptCodec.number(reply.get(0)) == 1, time(reply.get(1)),
                    (byte[]) reply.get(2)));
    }

    private static Instant time(Object millis) {
        return Instant.ofEpochMilli(ScriptCodec.floor(millis));
    }

    private CompletableFuture<List<Object>> run(String what, byte[]... more) {
        byte[][] arguments = new byte[3 + more.length][];
        arguments[0] = bytes(what);
        arguments[1] = bytes(MAX_AGE.toMillis());
        arguments[2] = bytes(MAX_NODES);
        System.arraycopy(more, 0, arguments, 3, more.length);
        return this.redis.directory(RedisScripts.NODES, arguments);
    }

}
