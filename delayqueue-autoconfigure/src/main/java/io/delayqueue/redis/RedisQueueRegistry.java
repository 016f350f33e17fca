package io.delayqueue.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.delayqueue.QueueName;
import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.store.QueueRegistry;

import static io.delayqueue.redis.script.ScriptCodec.bytes;

/** Stores the list of queues in Redis, by {@code queues.lua}. */
public final class RedisQueueRegistry implements QueueRegistry {

    /** Limit of the members that one call reads. */
    private static final int MAX_ROWS = 1_001;

    private final RedisScriptExecutor redis;

    public RedisQueueRegistry(RedisScriptExecutor redis) {
        this.redis = redis;
    }

    @Override
    public CompletableFuture<Void> add(QueueName queue) {
        return run("add", queue.value()).thenAccept((added) -> {
        });
    }

    @Override
    public CompletableFuture<Boolean> remove(QueueName queue) {
        return run("remove", queue.value()).thenApply((reply) -> ScriptCodec.number(reply.get(0)) == 1);
    }

    @Override
    public CompletableFuture<List<QueueName>> list(String after, int limit) {
        return list(List.of(), bytes(after), limit, limit);
    }

    /**
     * Reads until there are enough names or no more members; some members may be no
     * names.
     */
    private CompletableFuture<List<QueueName>> list(List<QueueName> before, byte[] after, int limit, int rows) {
        return this.redis.directory(RedisScripts.QUEUES, bytes("list"), after, bytes(rows)).thenCompose((reply) -> {
            List<QueueName> names = Stream.concat(before.stream(), reply.stream().flatMap(RedisQueueRegistry::name))
                .limit(limit)
                .toList();
            return (names.size() == limit || reply.size() < rows) ? CompletableFuture.completedFuture(names)
                    : list(names, (byte[]) reply.get(rows - 1), limit, MAX_ROWS);
        });
    }

    /** Parses a name, which another writer may have replaced by anything. */
    private static Stream<QueueName> name(Object value) {
        try {
            return Stream.of(new QueueName(ScriptCodec.name(value)));
        }
        catch (IllegalArgumentException ex) {
            return Stream.empty();
        }
    }

    private CompletableFuture<List<Object>> run(String what, String name) {
        return this.redis.directory(RedisScripts.QUEUES, bytes(what), bytes(name), bytes(1));
    }

}
