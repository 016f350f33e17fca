package io.delayqueue.redis;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.MessageState;
import io.delayqueue.QueueName;
import io.delayqueue.QueueStatistics;
import io.delayqueue.StoredMessage;
import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.redis.script.ScriptCodec.Attempts;
import io.delayqueue.redis.script.ScriptCodec.Details;
import io.delayqueue.store.DeadLetterCursor;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageInspector;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.envelope.Envelope;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;

import static io.delayqueue.redis.script.ScriptCodec.bytes;
import static io.delayqueue.redis.script.ScriptCodec.bytesOfName;
import static io.delayqueue.redis.script.ScriptCodec.name;
import static io.delayqueue.redis.script.ScriptCodec.number;
import static io.delayqueue.redis.script.ScriptCodec.text;

/**
 * Finds one message or dead letter by id, lists dead letters, and counts the messages of
 * a partition.
 */
public final class RedisMessageInspector implements MessageInspector {

    private static final int LETTER_FIELDS = 3;

    private final RedisScriptExecutor redis;

    private final EnvelopeCodec codec;

    public RedisMessageInspector(RedisScriptExecutor redis, EnvelopeCodec codec) {
        this.redis = redis;
        this.codec = codec;
    }

    @Override
    public CompletableFuture<Optional<StoredMessage>> find(PartitionTarget target, String id) {
        return this.redis.run(RedisScripts.FIND, target.partition(), bytesOfName(id), bytes(target.version()))
            .thenApply(
                    (reply) -> reply.isEmpty() ? Optional.empty() : Optional.of(toMessage(target.queue(), id, reply)));
    }

    private StoredMessage toMessage(QueueName queue, String id, List<Object> reply) {
        boolean leased = text(reply.get(0)).equals("L");
        long time = ScriptCodec.ceil(reply.get(1));
        Attempts attempts = Attempts.of(reply.get(2));
        Details details = Details.of(reply.get(3));
        Envelope envelope = this.codec.read(ScriptCodec.envelopeOf((byte[]) reply.get(4)));
        return new StoredMessage(queue.value(), id, leased ? MessageState.LEASED : MessageState.SCHEDULED,
                leased ? null : Instant.ofEpochMilli(time), leased ? ScriptCodec.ofMicros(time) : null,
                details.expiresAt(), details.lane(), details.group(), attempts.failures(), attempts.lapses(),
                Attempts.reasonsOf(reply.get(2)), EnvelopeCodec.text(envelope), envelope.headers());
    }

    @Override
    public CompletableFuture<QueueStatistics> statistics(Partition partition) {
        return this.redis.run(RedisScripts.STATISTICS, partition)
            .thenApply((reply) -> new QueueStatistics(partition.queue().value(), number(reply.get(0)),
                    number(reply.get(1)), number(reply.get(2)), number(reply.get(3)),
                    ScriptCodec.instantOrNull(reply.get(4))));
    }

    @Override
    public CompletableFuture<DeadLetterPage> deadLetters(Partition partition, @Nullable String cursor, int limit) {
        DeadLetterCursor from = (cursor != null) ? DeadLetterCursor.parse(cursor) : new DeadLetterCursor(0, "");
        return this.redis
            .run(RedisScripts.DEAD_LETTERS, partition, bytesOfName(from.deadLetterId()),
                    bytes(from.deadLetteredMillis()), bytes(limit + 1))
            .thenApply((reply) -> {
                List<DeadLetter> deadLetters = new ArrayList<>();
                for (int i = 0; i + LETTER_FIELDS <= reply.size(); i += LETTER_FIELDS) {
                    deadLetters.add(toLetter(partition, name(reply.get(i)), ScriptCodec.floor(reply.get(i + 1)),
                            DeadLetterContent.parse((byte[]) reply.get(i + 2))));
                }
                DeadLetterPage page = DeadLetterCursor.page(deadLetters, limit,
                        deadLetters.size() > limit || reply.size() % LETTER_FIELDS != 0);
                // Scores outside the range of a cursor would repeat the same page
                // endlessly.
                return (cursor != null && cursor.equals(page.nextCursor()))
                        ? new DeadLetterPage(page.deadLetters(), null) : page;
            });
    }

    @Override
    public CompletableFuture<Optional<DeadLetter>> deadLetter(Partition partition, String deadLetterId) {
        return content(partition, deadLetterId).thenApply((found) -> found
            .map((deadLetter) -> toLetter(partition, deadLetterId, deadLetter.deadLetteredAt(), deadLetter)));
    }

    @Override
    public CompletableFuture<Optional<NewMessage>> deadLetteredMessage(Partition partition, String deadLetterId) {
        return content(partition, deadLetterId)
            .thenApply((found) -> found.map((deadLetter) -> deadLetter.toMessage(deadLetterId)));
    }

    private CompletableFuture<Optional<DeadLetterContent>> content(Partition partition, String deadLetterId) {
        return this.redis.run(RedisScripts.DEAD_LETTERS, partition, bytesOfName(deadLetterId), bytes(0), bytes(0))
            .thenApply((reply) -> reply.isEmpty() ? Optional.empty()
                    : Optional.of(DeadLetterContent.parse((byte[]) reply.get(2))));
    }

    private DeadLetter toLetter(Partition partition, String deadLetterId, long deadLetteredAt,
            DeadLetterContent deadLetter) {
        Envelope envelope = readOrNull(deadLetter.stamped());
        return new DeadLetter(partition.queue().value(), deadLetterId, Lease.idOf(deadLetterId), deadLetter.group(),
                Instant.ofEpochMilli(deadLetter.due()), Instant.ofEpochMilli(deadLetteredAt), deadLetter.failures(),
                deadLetter.lapses(), deadLetter.cause(), deadLetter.firstFailureOrNull(),
                (envelope != null) ? EnvelopeCodec.text(envelope) : null,
                (envelope != null) ? envelope.headers() : Map.of());
    }

    /** Returns null for an unreadable message, whose dead letter must stay visible. */
    private @Nullable Envelope readOrNull(byte[] stamped) {
        if (stamped.length <= ScriptCodec.STAMP) {
            return null;
        }
        try {
            return this.codec.read(ScriptCodec.envelopeOf(stamped));
        }
        catch (RuntimeException | StackOverflowError | LinkageError ex) {
            // A codec of the application may throw anything.
            return null;
        }
    }

}
