package io.delayqueue.template;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DeadLetterOperations;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.QueueName;
import io.delayqueue.RedriveResult;
import io.delayqueue.engine.MessageInspector;
import io.delayqueue.engine.MessageStore;
import io.delayqueue.engine.Partition;
import org.jspecify.annotations.Nullable;

/** The dead letters of one queue, as the store has them. */
final class StoredDeadLetters implements DeadLetterOperations {

    private static final int MAX_PAGE = 100;

    private final Partition partition;

    private final MessageStore store;

    private final MessageInspector inspector;

    private final StoreCalls calls;

    StoredDeadLetters(QueueName queue, StorePorts ports, StoreCalls calls) {
        this.partition = Partition.first(queue);
        this.store = ports.messages();
        this.inspector = ports.inspector();
        this.calls = calls;
    }

    @Override
    public DeadLetterPage list(@Nullable String cursor, int limit) {
        if (limit < 1 || limit > MAX_PAGE) {
            throw new IllegalArgumentException("Limit %d is not valid: use 1 to %d".formatted(limit, MAX_PAGE));
        }
        return this.calls.await(this.inspector.deadLetters(this.partition, cursor, limit), "deadLetters");
    }

    @Override
    public RedriveResult redrive(String letterId) {
        return this.calls.await(this.store.redrive(this.partition, letterId), "redrive");
    }

    /**
     * Goes from the latest death to the earliest. What dies meanwhile dies later than all
     * of these, so this comes to an end whatever becomes of the messages.
     */
    @Override
    public long redriveAll() {
        long redriven = 0;
        String cursor = null;
        do {
            DeadLetterPage page = list(cursor, MAX_PAGE);
            List<CompletableFuture<RedriveResult>> answers = page.letters()
                .stream()
                .map((letter) -> this.store.redrive(this.partition, letter.letterId()))
                .toList();
            for (CompletableFuture<RedriveResult> answer : answers) {
                if (this.calls.await(answer, "redrive") == RedriveResult.REDRIVEN) {
                    redriven++;
                }
            }
            cursor = page.nextCursor();
        }
        while (cursor != null);
        return redriven;
    }

    @Override
    public boolean purge(String letterId) {
        return this.calls.await(this.store.purge(this.partition, letterId), "purge");
    }

    @Override
    public long purgeAll() {
        long purged = 0;
        int last;
        do {
            last = this.calls.await(this.store.purgeOlderThan(this.partition, Duration.ZERO), "purgeOlderThan");
            purged += last;
        }
        while (last == MessageStore.BATCH_LIMIT);
        return purged;
    }

}
