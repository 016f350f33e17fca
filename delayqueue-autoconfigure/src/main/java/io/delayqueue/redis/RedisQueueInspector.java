package io.delayqueue.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.QueueHorizon;
import io.delayqueue.engine.Partition;
import io.delayqueue.engine.PartitionCounts;
import io.delayqueue.engine.Pause;
import io.delayqueue.engine.QueueInspector;

import static io.delayqueue.redis.Replies.number;
import static io.delayqueue.redis.Replies.text;

/** Looks at queues in Redis, by {@code statistics.lua} and {@code horizon.lua}. */
public final class RedisQueueInspector implements QueueInspector {

    private final RedisAccess redis;

    public RedisQueueInspector(RedisAccess redis) {
        this.redis = redis;
    }

    @Override
    public CompletableFuture<PartitionCounts> counts(Partition partition) {
        return this.redis.run(RedisScripts.STATISTICS, partition)
            .thenApply((reply) -> new PartitionCounts(number(reply.get(0)), number(reply.get(1)), number(reply.get(5)),
                    number(reply.get(2)), number(reply.get(6)), number(reply.get(3)),
                    Replies.instantOrNull(reply.get(4)), Pause.parse(text(reply.get(7))), (int) number(reply.get(8)),
                    Replies.ofMicros(number(reply.get(9)))));
    }

    @Override
    public CompletableFuture<QueueHorizon> horizon(Partition partition) {
        return this.redis.run(RedisScripts.HORIZON, partition)
            .thenApply((reply) -> new QueueHorizon(partition.queue().value(), number(reply.get(0)), more(reply, 1),
                    more(reply, 2), more(reply, 3), more(reply, 4), more(reply, 5), number(reply.get(6))));
    }

    private static long more(List<Object> counts, int index) {
        return number(counts.get(index)) - number(counts.get(index - 1));
    }

}
