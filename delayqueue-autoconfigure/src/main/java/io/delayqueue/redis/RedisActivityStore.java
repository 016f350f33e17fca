package io.delayqueue.redis;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;

import io.delayqueue.admin.QueueActivity;
import io.delayqueue.admin.QueueActivity.Backlog;
import io.delayqueue.redis.script.RedisScript;
import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.store.ActivityMinutes;
import io.delayqueue.store.ActivityReport;
import io.delayqueue.store.ActivityStore;
import io.delayqueue.store.BacklogCode;
import org.jspecify.annotations.Nullable;

import static io.delayqueue.redis.script.ScriptCodec.bytes;
import static io.delayqueue.redis.script.ScriptCodec.number;
import static io.delayqueue.redis.script.ScriptCodec.text;

/**
 * Stores the activity of queues in Redis, by {@code record-activity.lua},
 * {@code record-backlog.lua} and {@code read-activity.lua}.
 */
public final class RedisActivityStore implements ActivityStore {

    /** Minutes of a queue that one call reads, whose rows Redis copies. */
    private static final int PART = 30;

    /** Queues whose messages one call records. */
    private static final int MAX_BACKLOGS = 50;

    /** Digits of the minute at the beginning of a row. */
    private static final int MINUTE = 8;

    /** Seconds of a minute. */
    private static final long SECONDS = 60;

    private static final int COUNT_BYTES = 3;

    private static final int CODE_BYTES = 2;

    /** Bytes of the counts in a cell, before those of the backlog. */
    private static final int COUNTS = ActivityReport.FIELDS * COUNT_BYTES;

    private static final int CELL = COUNTS + 4 * CODE_BYTES;

    private final RedisScriptExecutor redis;

    public RedisActivityStore(RedisScriptExecutor redis) {
        this.redis = redis;
    }

    @Override
    public CompletableFuture<Reply> report(ActivityReport report) {
        List<byte[]> arguments = new ArrayList<>(List.of(bytes(report.node()), bytes(report.number()),
                bytes(report.followsAnOutage() ? Math.max(1, report.unanswered().toMillis()) : 0)));
        report.counts().forEach((queue, counts) -> {
            arguments.add(bytes(queue));
            arguments.add(bytes(fields(counts)));
        });
        return run(RedisScripts.RECORD_ACTIVITY, arguments).thenApply((reply) -> {
            int leftOut = (int) number(reply.get(1));
            List<String> queues = reply.stream().skip(2).map(ScriptCodec::text).toList();
            return new Reply(queues.subList(0, leftOut), Instant.ofEpochMilli(number(reply.get(0))),
                    queues.subList(leftOut, queues.size()));
        });
    }

    private static String fields(long[] counts) {
        StringBuilder fields = new StringBuilder();
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] > 0) {
                fields.append((fields.isEmpty()) ? "" : " ").append(i).append(':').append(counts[i]);
            }
        }
        return fields.toString();
    }

    @Override
    public CompletableFuture<Void> record(Instant minute, Map<String, Backlog> backlogs, boolean complete) {
        Map<String, Backlog> all = new LinkedHashMap<>(backlogs);
        if (complete) {
            all.put(ActivityReport.OTHERS, ActivityMinutes.sum(backlogs.values()));
        }
        List<Map.Entry<String, Backlog>> entries = List.copyOf(all.entrySet());
        CompletableFuture<Void> recorded = CompletableFuture.completedFuture(null);
        for (int i = 0; i < entries.size(); i += MAX_BACKLOGS) {
            List<byte[]> arguments = new ArrayList<>(List.of(bytes(Math.floorDiv(minute.getEpochSecond(), SECONDS))));
            entries.subList(i, Math.min(entries.size(), i + MAX_BACKLOGS)).forEach((entry) -> {
                arguments.add(bytes(entry.getKey()));
                arguments.add(bytes(codes(entry.getValue())));
            });
            recorded = recorded.thenCompose((before) -> run(RedisScripts.RECORD_BACKLOG, arguments))
                .thenAccept((reply) -> {
                });
        }
        return recorded;
    }

    private static String codes(Backlog backlog) {
        return LongStream.of(backlog.due(), backlog.leased(), backlog.scheduled(), backlog.dead())
            .mapToObj((count) -> Integer.toString(BacklogCode.of(count)))
            .reduce((one, other) -> one + " " + other)
            .orElseThrow();
    }

    @Override
    public CompletableFuture<QueueActivity> read(@Nullable String queue) {
        return (queue != null) ? readPart(queue, new ActivityMinutes(), QueueActivity.MINUTES - 1) : readAll();
    }

    private CompletableFuture<QueueActivity> readAll() {
        return run(RedisScripts.READ_ACTIVITY, List.of(bytes("all"), bytes(QueueActivity.MINUTES - 1), bytes(0)))
            .thenApply((reply) -> {
                int names = (int) number(reply.get(1));
                ActivityMinutes minutes = new ActivityMinutes();
                reply.stream().skip(2L + names).forEach((row) -> add(minutes, (byte[]) row, 0));
                return minutes.all(Instant.ofEpochMilli(number(reply.get(0))),
                        reply.stream().skip(2).limit(names).map(ScriptCodec::text).sorted().toList());
            });
    }

    /**
     * Reads a part, the oldest minutes first, then those after it. Each begins with the
     * last minute of the part before, as that is older if a minute ends in between.
     */
    private CompletableFuture<QueueActivity> readPart(String queue, ActivityMinutes minutes, int first) {
        int last = Math.max(0, first - PART + 1);
        return run(RedisScripts.READ_ACTIVITY, List.of(bytes("queue"), bytes(first), bytes(last), bytes(queue)))
            .thenCompose((reply) -> {
                String since = text(reply.get(1));
                long begin = since.isEmpty() ? Long.MAX_VALUE : Long.parseLong(since);
                reply.stream().skip(2).forEach((row) -> add(minutes, (byte[]) row, begin));
                return (last > 0) ? readPart(queue, minutes, last) : CompletableFuture
                    .completedFuture(minutes.of(queue, !since.isEmpty(), Instant.ofEpochMilli(number(reply.get(0)))));
            });
    }

    /**
     * Adds a minute.
     * @param since the minute before which nothing is known of the queue, as its place
     * may have been that of another one
     */
    private static void add(ActivityMinutes minutes, byte[] row, long since) {
        long minute = Long.parseLong(text(Arrays.copyOf(row, MINUTE)));
        boolean known = minute >= since;
        int cell = MINUTE + 2;
        minutes.add(ActivityMinutes.minute(Instant.ofEpochSecond(minute * SECONDS), known && row[MINUTE] == 'r',
                row[MINUTE + 1] == 'u', known ? counts(row, cell) : new long[ActivityReport.FIELDS],
                known ? backlog(row, cell + COUNTS) : null));
    }

    private static long[] counts(byte[] row, int cell) {
        long[] counts = new long[ActivityReport.FIELDS];
        for (int i = 0; i < counts.length; i++) {
            counts[i] = unsigned(row, cell + i * COUNT_BYTES, COUNT_BYTES);
        }
        return counts;
    }

    private static @Nullable Backlog backlog(byte[] row, int at) {
        int[] codes = new int[4];
        for (int i = 0; i < codes.length; i++) {
            codes[i] = (int) unsigned(row, at + i * CODE_BYTES, CODE_BYTES);
            if (codes[i] == BacklogCode.UNKNOWN) {
                return null;
            }
        }
        return new Backlog(BacklogCode.count(codes[0]), BacklogCode.count(codes[1]), BacklogCode.count(codes[2]),
                BacklogCode.count(codes[3]));
    }

    private static long unsigned(byte[] row, int at, int length) {
        long value = 0;
        for (int i = at; i < at + length; i++) {
            value = (value << Byte.SIZE) | (row[i] & 0xFF);
        }
        return value;
    }

    @Override
    public CompletableFuture<Map<String, long[]>> lateness() {
        return run(RedisScripts.READ_ACTIVITY, List.of(bytes("rows"), bytes(1), bytes(0))).thenApply((reply) -> {
            int rows = (int) number(reply.get(1));
            Map<String, long[]> counts = new HashMap<>();
            for (int i = 2 + rows; i + 1 < reply.size(); i += 2) {
                long[] sum = new long[ActivityReport.FIELDS];
                int cell = MINUTE + (int) number(reply.get(i + 1)) * CELL;
                for (Object row : reply.subList(2, 2 + rows)) {
                    if (((byte[]) row).length >= cell + CELL) {
                        long[] more = counts((byte[]) row, cell);
                        Arrays.setAll(sum, (field) -> sum[field] + more[field]);
                    }
                }
                counts.put(text(reply.get(i)), sum);
            }
            return counts;
        });
    }

    private CompletableFuture<List<Object>> run(RedisScript script, List<byte[]> arguments) {
        return this.redis.activity(script, arguments.toArray(byte[][]::new));
    }

}
