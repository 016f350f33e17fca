package io.delayqueue.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.delayqueue.QueueName;
import io.delayqueue.engine.QueueDirectory;

import static io.delayqueue.redis.Replies.bytes;

/** The list of queues in Redis, by {@code queues.lua}. */
public final class RedisQueueDirectory implements QueueDirectory {

    private final RedisAccess redis;

    public RedisQueueDirectory(RedisAccess redis) {
        this.redis = redis;
    }

    @Override
    public CompletableFuture<Void> add(QueueName queue) {
        return run("add", queue.value(), 1).thenAccept((added) -> {
        });
    }

    @Override
    public CompletableFuture<Boolean> remove(QueueName queue) {
        return run("remove", queue.value(), 1).thenApply((reply) -> Replies.number(reply.get(0)) == 1);
    }

    @Override
    public CompletableFuture<List<QueueName>> list(String after, int limit) {
        return run("list", after, limit)
            .thenApply((reply) -> reply.stream().flatMap(RedisQueueDirectory::name).toList());
    }

    /** Somebody else may have put anything there. */
    private static Stream<QueueName> name(Object value) {
        try {
            return Stream.of(new QueueName(Replies.name(value)));
        }
        catch (IllegalArgumentException ex) {
            return Stream.empty();
        }
    }

    private CompletableFuture<List<Object>> run(String what, String name, int limit) {
        return this.redis.directory(RedisScripts.QUEUES, bytes(what), bytes(name), bytes(limit));
    }

}
