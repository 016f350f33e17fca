package io.delayqueue.redis;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.store.NodeRegistry;

import static io.delayqueue.redis.script.ScriptCodec.bytes;

/** Stores the reports of nodes in Redis, by {@code nodes.lua}. */
public final class RedisNodeRegistry implements NodeRegistry {

    private static final int FIELDS = 3;

    private final RedisScriptExecutor redis;

    public RedisNodeRegistry(RedisScriptExecutor redis) {
        this.redis = redis;
    }

    @Override
    public CompletableFuture<Void> report(String node, byte[] report) {
        return run("report", bytes(node), report).thenAccept((reply) -> {
        });
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
                reports.add(new Report(ScriptCodec.name(reply.get(i)), (byte[]) reply.get(i + 2),
                        Instant.ofEpochMilli(ScriptCodec.floor(reply.get(i + 1)))));
            }
            return reports;
        });
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
