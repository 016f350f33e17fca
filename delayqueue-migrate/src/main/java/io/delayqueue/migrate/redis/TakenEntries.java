package io.delayqueue.migrate.redis;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

import io.delayqueue.migrate.EntryPage;
import io.delayqueue.migrate.EntryOutcome;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceStatus;
import io.lettuce.core.KeyValue;
import io.lettuce.core.MapScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.ScriptOutputType;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the entries that were taken from one queue, in the cluster slot of that queue.
 */
final class TakenEntries {

    private static final int STEP = 1_000;

    /** Distinguishes this process from another one that works on the queue. */
    private static final byte[] TOKEN = RedisLink.bytes(UUID.randomUUID().toString());

    private static final byte[] PENDING = RedisLink.bytes("pending");

    private static final byte[] NOTHING = {};

    private final RedisLink redis;

    private final String queue;

    private final List<String> keys;

    private final EntryReader reader;

    /**
     * Creates the view of a queue.
     * @param queue the name of the queue
     * @param name the name of the keys, with the hash tag of the queue
     * @param reader reads what the source wrote
     */
    TakenEntries(RedisLink redis, String queue, String name, EntryReader reader) {
        this.redis = redis;
        this.queue = queue;
        this.keys = List.of(name, name + ":pending", name + ":unreadable", name + ":counts", name + ":owner");
        this.reader = reader;
    }

    /**
     * Makes this process the owner of the queue.
     * @throws io.delayqueue.migrate.SourceInUseException if another one is
     */
    void own() {
        this.redis.<Long>run(this.queue, MigrationScript.OWN, ScriptOutputType.INTEGER, this.keys, List.of(TOKEN));
    }

    /** Runs a script that only reads. */
    <T> T run(MigrationScript script, ScriptOutputType type, List<String> sourceKeys, String... arguments) {
        return this.redis.run(this.queue, script, type, with(sourceKeys), RedisLink.arguments(arguments));
    }

    /** Runs a script that takes entries, and returns these. */
    Batch take(MigrationScript script, List<String> sourceKeys, String batch, String... arguments) {
        List<byte[]> all = new ArrayList<>(List.of(TOKEN, RedisLink.bytes(batch)));
        all.addAll(RedisLink.arguments(arguments));
        List<Object> reply = this.redis.run(this.queue, script, ScriptOutputType.MULTI, with(sourceKeys), all);
        List<?> values = (List<?>) reply.get(0);
        List<SourceEntry> entries = new ArrayList<>(values.size());
        for (int i = 0; i < values.size(); i++) {
            entries.add(read(batch + "-" + (i + 1), (byte[]) values.get(i)));
        }
        return new Batch(entries, (reply.size() > 1) ? (Long) reply.get(1) : 0);
    }

    List<SourceEntry> unsettled(int limit) {
        List<byte[]> ids = this.redis.commands().srandmember(bytes(1), limit);
        if (ids.isEmpty()) {
            return List.of();
        }
        List<SourceEntry> entries = new ArrayList<>(ids.size());
        for (KeyValue<byte[], byte[]> entry : this.redis.commands().hmget(bytes(0), ids.toArray(byte[][]::new))) {
            entry.ifHasValue((value) -> entries.add(read(RedisLink.text(entry.getKey()), value)));
        }
        return entries;
    }

    /** Makes unreadable entries pending, some with each call of the script. */
    void reopen(BooleanSupplier stopped) {
        ScanCursor cursor = ScanCursor.INITIAL;
        while (!cursor.isFinished() && !stopped.getAsBoolean()) {
            // A page of a large hash may be empty without being the last one.
            MapScanCursor<byte[], byte[]> page = this.redis.commands()
                .hscan(bytes(2), cursor, ScanArgs.Builder.limit(STEP));
            if (!page.getMap().isEmpty()) {
                run(page.getMap().keySet().stream().flatMap((id) -> Stream.of(id, PENDING, NOTHING)));
            }
            cursor = page;
        }
    }

    void settle(List<EntryOutcome> outcomes) {
        run(outcomes.stream()
            .flatMap((outcome) -> RedisLink
                .arguments(outcome.id(), outcome.outcome().name().toLowerCase(Locale.ROOT),
                        (outcome.reason() != null) ? outcome.reason() : "")
                .stream()));
    }

    private void run(Stream<byte[]> arguments) {
        this.redis.<Long>run(this.queue, MigrationScript.SETTLE, ScriptOutputType.INTEGER, this.keys,
                Stream.concat(Stream.of(TOKEN), arguments).toList());
    }

    /** Returns entries that are neither pending nor unreadable; dropped ones are gone. */
    EntryPage sent(@Nullable String cursor, int limit) {
        ScanCursor from = (cursor != null) ? ScanCursor.of(cursor) : ScanCursor.INITIAL;
        MapScanCursor<byte[], byte[]> page = this.redis.commands().hscan(bytes(0), from, ScanArgs.Builder.limit(limit));
        List<SourceEntry> entries = new ArrayList<>();
        page.getMap().forEach((id, value) -> {
            if (!this.redis.commands().sismember(bytes(1), id) && !this.redis.commands().hexists(bytes(2), id)) {
                entries.add(read(RedisLink.text(id), value));
            }
        });
        return new EntryPage(entries, page.isFinished() ? null : page.getCursor());
    }

    /** Adds to a count that is kept with the entries. */
    void count(String name, long number) {
        this.redis.commands().hincrby(bytes(3), RedisLink.bytes(name), number);
    }

    /** Returns the counts of taken entries, and the sizes of keys of the source. */
    Counts counts(List<String> sourceKeys) {
        List<Object> reply = this.redis.run(this.queue, MigrationScript.STATUS, ScriptOutputType.MULTI,
                with(sourceKeys), RedisLink.arguments(""));
        Map<String, Long> counts = new TreeMap<>();
        List<?> named = (List<?>) reply.get(2);
        for (int i = 0; i < named.size(); i += 2) {
            counts.put(RedisLink.text((byte[]) named.get(i)), Long.valueOf(RedisLink.text((byte[]) named.get(i + 1))));
        }
        return new Counts((Long) reply.get(0), (Long) reply.get(1), counts,
                reply.stream().skip(3).map(Long.class::cast).toList());
    }

    /**
     * Deletes the keys in small steps, the counts last.
     * @throws io.delayqueue.migrate.SourceInUseException if another process is the owner,
     * or has taken entries
     */
    void delete(BooleanSupplier stopped) {
        ScanArgs step = ScanArgs.Builder.limit(STEP);
        MapScanCursor<byte[], byte[]> page = this.redis.commands().hscan(bytes(0), ScanCursor.INITIAL, step);
        while (!stopped.getAsBoolean()) {
            List<byte[]> arguments = new ArrayList<>(List.of(TOKEN, RedisLink.bytes(page.isFinished() ? "1" : "0")));
            arguments.addAll(page.getMap().keySet());
            this.redis.<Long>run(this.queue, MigrationScript.FINISH, ScriptOutputType.INTEGER, this.keys, arguments);
            if (page.isFinished()) {
                return;
            }
            page = this.redis.commands().hscan(bytes(0), page, step);
        }
    }

    private List<String> with(List<String> sourceKeys) {
        List<String> all = new ArrayList<>(this.keys);
        all.addAll(sourceKeys);
        return all;
    }

    private byte[] bytes(int key) {
        return RedisLink.bytes(this.keys.get(key));
    }

    private SourceEntry read(String id, byte[] value) {
        int end = 0;
        while (value[end] != '\n') {
            end++;
        }
        String due = new String(value, 0, end, StandardCharsets.US_ASCII);
        byte[] member = Arrays.copyOfRange(value, end + 1, value.length);
        return this.reader.read(id, due.isEmpty() ? null : due, member);
    }

    /**
     * Holds a batch.
     *
     * @param entries the entries that were taken
     * @param passed the number of members that were examined and left in the source
     */
    record Batch(List<SourceEntry> entries, long passed) {
    }

    /**
     * Holds counts of one moment.
     *
     * @param pending entries that were taken and are not settled
     * @param unreadable unreadable entries
     * @param named the counts by name
     * @param sizes the sizes of keys of the source
     */
    record Counts(long pending, long unreadable, Map<String, Long> named, List<Long> sizes) {

        /** Returns the status of the queue. */
        SourceStatus status(long waiting, @Nullable Instant firstDue, @Nullable Instant lastDue,
                Map<String, Long> left) {
            Map<String, Long> others = new TreeMap<>(this.named);
            long taken = removed(others, "taken");
            long sent = removed(others, "sent");
            long dropped = removed(others, "dropped");
            return new SourceStatus(waiting, firstDue, lastDue, taken, this.pending, sent, dropped, this.unreadable,
                    others, left);
        }

        private static long removed(Map<String, Long> counts, String name) {
            Long count = counts.remove(name);
            return (count != null) ? count : 0;
        }

    }

    /** Reads an entry in the form of the source. */
    @FunctionalInterface
    interface EntryReader {

        /**
         * Reads an entry.
         * @param id the id for the entry
         * @param score the score of the member, in milliseconds; {@code null} if it has
         * none
         * @param member what the source wrote
         */
        SourceEntry read(String id, @Nullable String score, byte[] member);

    }

}
