package io.delayqueue.redis;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.CauseGroup;
import io.delayqueue.MessageState;
import io.delayqueue.MessageSummary;
import io.delayqueue.admin.DeadLetterSummary;
import io.delayqueue.admin.MessageScanPage;
import io.delayqueue.admin.ScanSelection;
import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.redis.script.ScriptCodec.Attempts;
import io.delayqueue.redis.script.ScriptCodec.Details;
import io.delayqueue.store.DeadLetterCursor;
import io.delayqueue.store.DeadLetterSummaryPage;
import io.delayqueue.store.Lease;
import io.delayqueue.store.LocatedId;
import io.delayqueue.store.Partition;
import io.delayqueue.store.RetryingStep;
import org.jspecify.annotations.Nullable;

import static io.delayqueue.redis.script.ScriptCodec.bytes;
import static io.delayqueue.redis.script.ScriptCodec.bytesOfName;
import static io.delayqueue.redis.script.ScriptCodec.number;
import static io.delayqueue.redis.script.ScriptCodec.text;

/**
 * Walks through the keys of a partition, by {@code scan.lua}, {@code locate.lua} and
 * {@code dead-letters.lua}, in steps that keep Redis busy for about a millisecond at
 * most.
 */
final class RedisScans {

    /** Members of a sorted set that a step examines. */
    private static final int COUNT = 250;

    /** Members of the hash of attempts, whose values are longer. */
    private static final int HASH_COUNT = 50;

    /** Names of dead letters that a step of a search examines. */
    private static final int NAMES = 500;

    private static final int HEADER = 3;

    private static final int FIELDS = 5;

    /**
     * Bytes of a dead letter that hold the fields before its cause, and its first line.
     */
    private static final int HEAD_BYTES = 600 + 4 * CauseGroup.MAX_LENGTH;

    private final RedisScriptExecutor redis;

    RedisScans(RedisScriptExecutor redis) {
        this.redis = redis;
    }

    CompletableFuture<MessageScanPage> scan(Partition partition, ScanSelection selection, String idPrefix,
            @Nullable String cursor) {
        List<Integer> keys = ScanCursor.keysOf(selection);
        ScanCursor from = ScanCursor.parse(cursor, keys.size());
        int key = keys.get(from.index());
        return step(partition, key, from, idPrefix).thenApply((reply) -> {
            long now = number(reply.get(0));
            List<MessageSummary> messages = new ArrayList<>();
            List<DeadLetterSummary> deadLetters = new ArrayList<>();
            for (int i = HEADER; i + FIELDS <= reply.size(); i += FIELDS) {
                List<Object> entry = reply.subList(i, i + FIELDS);
                if (text(entry.get(1)).equals("D")) {
                    deadLetters.add(deadLetter(partition, entry.get(0), entry.get(2)));
                }
                else {
                    MessageSummary message = message(partition, now, entry);
                    if (selection != ScanSelection.DUE || isDue(message, now)) {
                        messages.add(message);
                    }
                }
            }
            return new MessageScanPage(messages, deadLetters, examined(reply, key),
                    from.next(text(reply.get(1)), keys.size()));
        });
    }

    CompletableFuture<RetryingStep> countRetrying(Partition partition, @Nullable String cursor) {
        ScanCursor from = ScanCursor.parse(cursor, 1);
        return step(partition, ScanCursor.ATTEMPTS, from, "")
            .thenApply((reply) -> new RetryingStep((reply.size() - HEADER) / FIELDS,
                    examined(reply, ScanCursor.ATTEMPTS), from.next(text(reply.get(1)), 1)));
    }

    private CompletableFuture<List<Object>> step(Partition partition, int key, ScanCursor from, String idPrefix) {
        String begin = ScanCursor.startingWith(idPrefix);
        String pattern = (key == ScanCursor.WAITING && !idPrefix.isEmpty()) ? "* " + "?".repeat(15) + ":" + begin
                : begin;
        return this.redis.run(RedisScripts.SCAN, partition, bytes(key), bytes(from.position()), bytes(pattern),
                bytes((key == ScanCursor.ATTEMPTS) ? HASH_COUNT : COUNT));
    }

    /** Estimates it, as Redis does not return it. */
    private static long examined(List<Object> reply, int key) {
        return Math.min(number(reply.get(2)), (key == ScanCursor.ATTEMPTS) ? HASH_COUNT : COUNT);
    }

    private static MessageSummary message(Partition partition, long now, List<Object> entry) {
        boolean held = text(entry.get(1)).equals("L");
        long time = ScriptCodec.ceil(entry.get(2));
        boolean leased = held && time > now;
        Attempts tried = Attempts.of(entry.get(3));
        Details details = Details.of(entry.get(4));
        Instant due = !held ? Instant.ofEpochMilli(time) : (details.dueAt() != null && tried.failures() == 0)
                ? details.dueAt() : Instant.ofEpochMilli(Math.floorDiv(time, 1_000));
        return new MessageSummary(partition.queue().value(), ScriptCodec.name(entry.get(0)),
                leased ? MessageState.LEASED : MessageState.SCHEDULED, leased ? null : due,
                leased ? ScriptCodec.ofMicros(time) : null, details.expiresAt(), details.lane(), details.group(),
                tried.failures(), tried.lapses(), Attempts.reasonsOf(entry.get(3)));
    }

    private static boolean isDue(MessageSummary message, long now) {
        return message.dueAt() != null && !message.dueAt().isAfter(ScriptCodec.ofMicros(now));
    }

    private static DeadLetterSummary deadLetter(Partition partition, Object name, Object deadLetteredAt) {
        String id = ScriptCodec.name(name);
        return new DeadLetterSummary(partition.queue().value(), id, Lease.idOf(id),
                Instant.ofEpochMilli(ScriptCodec.floor(deadLetteredAt)));
    }

    CompletableFuture<LocatedId> locate(Partition partition, String id, @Nullable String cursor) {
        ScanCursor from = ScanCursor.parse(cursor, 1);
        return this.redis
            .run(RedisScripts.LOCATE, partition, bytesOfName(id), bytes(from.position()),
                    bytes(ScanCursor.startingWith(id + "~")), bytes(NAMES))
            .thenApply((reply) -> {
                List<DeadLetterSummary> deadLetters = new ArrayList<>();
                for (int i = HEADER; i + 1 < reply.size(); i += 2) {
                    DeadLetterSummary found = deadLetter(partition, reply.get(i), reply.get(i + 1));
                    if (found.messageId().equals(id)) {
                        deadLetters.add(found);
                    }
                }
                String state = text(reply.get(0));
                return new LocatedId(
                        state.isEmpty() ? null : state.equals("L") ? MessageState.LEASED : MessageState.SCHEDULED,
                        (int) number(reply.get(1)), deadLetters, from.next(text(reply.get(2)), 1));
            });
    }

    CompletableFuture<DeadLetterSummaryPage> deadLetterSummaries(Partition partition, @Nullable String cursor,
            int limit) {
        DeadLetterCursor from = (cursor != null) ? DeadLetterCursor.parse(cursor) : new DeadLetterCursor(0, "");
        return this.redis
            .run(RedisScripts.DEAD_LETTERS, partition, bytesOfName(from.deadLetterId()),
                    bytes(from.deadLetteredMillis()), bytes(limit), bytes(HEAD_BYTES))
            .thenApply((reply) -> {
                List<DeadLetterSummaryPage.SummaryWithCause> deadLetters = new ArrayList<>();
                for (int i = 0; i + HEADER <= reply.size(); i += HEADER) {
                    deadLetters.add(new DeadLetterSummaryPage.SummaryWithCause(
                            deadLetter(partition, reply.get(i), reply.get(i + 1)),
                            DeadLetterContent.causeLine((byte[]) reply.get(i + 2))));
                }
                boolean more = deadLetters.size() == limit || reply.size() % HEADER != 0;
                DeadLetterSummary last = deadLetters.isEmpty() ? null
                        : deadLetters.get(deadLetters.size() - 1).deadLetter();
                String next = (last != null && more) ? last.deadLetteredAt().toEpochMilli() + ":" + last.id() : null;
                // Scores outside the range of a cursor would repeat the same page.
                return new DeadLetterSummaryPage(deadLetters, (next != null && next.equals(cursor)) ? null : next);
            });
    }

}
