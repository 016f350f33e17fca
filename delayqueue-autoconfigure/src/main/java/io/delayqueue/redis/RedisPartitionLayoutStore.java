package io.delayqueue.redis;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.QueueName;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionLayoutStore;

import static io.delayqueue.redis.script.ScriptCodec.bytes;

/** Stores the layouts of partitions in Redis, by {@code partitions.lua}. */
public final class RedisPartitionLayoutStore implements PartitionLayoutStore {

    private static final String EARLIER = "*";

    private final RedisScriptExecutor redis;

    public RedisPartitionLayoutStore(RedisScriptExecutor redis) {
        this.redis = redis;
    }

    @Override
    public CompletableFuture<Optional<PartitionLayout>> read(Partition partition) {
        return run(partition, "", "", "");
    }

    @Override
    public CompletableFuture<PartitionLayout> establish(QueueName queue, int count) {
        return run(Partition.first(queue), "", PartitionLayout.founding(count).text(),
                PartitionLayout.ONE.next(count).text())
            .thenApply(Optional::orElseThrow);
    }

    @Override
    public CompletableFuture<PartitionLayout> replace(QueueName queue, Optional<PartitionLayout> expected,
            PartitionLayout next) {
        return run(Partition.first(queue), expected.map(PartitionLayout::text).orElse(""), next.text(), next.text())
            .thenApply((recorded) -> recorded.orElse(PartitionLayout.ONE));
    }

    @Override
    public CompletableFuture<Void> raise(Partition partition, PartitionLayout partitions) {
        return run(partition, EARLIER, partitions.text(), partitions.text()).thenAccept((recorded) -> {
        });
    }

    private CompletableFuture<Optional<PartitionLayout>> run(Partition partition, String expected, String record,
            String recordIfHeld) {
        return execute(partition, expected, record, recordIfHeld)
            .thenApply((reply) -> Optional.of(ScriptCodec.text(reply.get(0)))
                .filter((text) -> !text.isEmpty())
                .map((text) -> parsed(partition, text)));
    }

    /** Parses a record, which another writer may have replaced by anything. */
    private static PartitionLayout parsed(Partition partition, String text) {
        try {
            return PartitionLayout.parse(text);
        }
        catch (IllegalArgumentException ex) {
            throw new StoreRefusedException("The record of the partitions of queue '%s' cannot be read: %s"
                .formatted(partition.queue(), ex.getMessage()), ex);
        }
    }

    @Override
    public CompletableFuture<Instant> now(Partition partition) {
        return execute(partition, "", "", "")
            .thenApply((reply) -> Instant.ofEpochMilli(ScriptCodec.number(reply.get(1))));
    }

    private CompletableFuture<List<Object>> execute(Partition partition, String expected, String record,
            String recordIfHeld) {
        return this.redis.withDuplicates(RedisScripts.PARTITIONS, partition, bytes(expected), bytes(record),
                bytes(recordIfHeld));
    }

}
