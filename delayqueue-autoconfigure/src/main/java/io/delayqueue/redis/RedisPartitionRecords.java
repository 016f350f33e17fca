package io.delayqueue.redis;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.QueueName;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.engine.Partition;
import io.delayqueue.engine.PartitionRecords;
import io.delayqueue.engine.Partitions;

import static io.delayqueue.redis.Replies.bytes;

/** Records of partitions in Redis, by {@code partitions.lua}. */
public final class RedisPartitionRecords implements PartitionRecords {

    private static final String EARLIER = "*";

    private final RedisAccess redis;

    public RedisPartitionRecords(RedisAccess redis) {
        this.redis = redis;
    }

    @Override
    public CompletableFuture<Optional<Partitions>> read(Partition partition) {
        return run(partition, "", "", "");
    }

    @Override
    public CompletableFuture<Partitions> found(QueueName queue, int count) {
        return run(Partition.first(queue), "", Partitions.founding(count).text(), Partitions.ONE.next(count).text())
            .thenApply(Optional::orElseThrow);
    }

    @Override
    public CompletableFuture<Partitions> replace(QueueName queue, Optional<Partitions> expected, Partitions next) {
        return run(Partition.first(queue), expected.map(Partitions::text).orElse(""), next.text(), next.text())
            .thenApply((recorded) -> recorded.orElse(Partitions.ONE));
    }

    @Override
    public CompletableFuture<Void> raise(Partition partition, Partitions partitions) {
        return run(partition, EARLIER, partitions.text(), partitions.text()).thenAccept((recorded) -> {
        });
    }

    private CompletableFuture<Optional<Partitions>> run(Partition partition, String expected, String record,
            String recordIfHeld) {
        return ask(partition, expected, record, recordIfHeld)
            .thenApply((reply) -> Optional.of(Replies.text(reply.get(0)))
                .filter((text) -> !text.isEmpty())
                .map((text) -> parsed(partition, text)));
    }

    /** Somebody else may have written anything there. */
    private static Partitions parsed(Partition partition, String text) {
        try {
            return Partitions.parse(text);
        }
        catch (IllegalArgumentException ex) {
            throw new StoreRefusedException("The record of the partitions of queue '%s' cannot be read: %s"
                .formatted(partition.queue(), ex.getMessage()), ex);
        }
    }

    @Override
    public CompletableFuture<Instant> now(QueueName queue) {
        return ask(Partition.first(queue), "", "", "")
            .thenApply((reply) -> Instant.ofEpochMilli(Replies.number(reply.get(1))));
    }

    private CompletableFuture<List<Object>> ask(Partition partition, String expected, String record,
            String recordIfHeld) {
        return this.redis.run(RedisScripts.PARTITIONS, partition, bytes(expected), bytes(record), bytes(recordIfHeld));
    }

}
