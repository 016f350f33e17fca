package io.delayqueue.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.MessageState;
import io.delayqueue.MessageSummary;
import io.delayqueue.admin.DueForecast;
import io.delayqueue.admin.MessageScanPage;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.admin.ScanSelection;
import io.delayqueue.redis.script.RedisScripts;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.redis.script.ScriptCodec.Attempts;
import io.delayqueue.redis.script.ScriptCodec.Details;
import io.delayqueue.store.DeadLetterSummaryPage;
import io.delayqueue.store.DueCounts;
import io.delayqueue.store.ListedMessage;
import io.delayqueue.store.LocatedId;
import io.delayqueue.store.MessageCursor;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionCounts;
import io.delayqueue.store.Pause;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.RetryingStep;
import org.jspecify.annotations.Nullable;

import static io.delayqueue.redis.script.ScriptCodec.bytes;
import static io.delayqueue.redis.script.ScriptCodec.number;
import static io.delayqueue.redis.script.ScriptCodec.text;

/**
 * Counts, lists and scans the messages of a partition.
 */
public final class RedisQueueInspector implements QueueInspector {

    /** Number of fields in a reply of statistics.lua before those of the spans. */
    private static final int STATISTICS_FIELDS = 10;

    /** Spans of a {@link DueForecast}. */
    private static final List<Duration> FORECAST = List.of(Duration.ofMinutes(1), Duration.ofHours(1),
            Duration.ofDays(1), Duration.ofDays(7));

    private static final int LISTED_FIELDS = 4;

    /** Matches group, due time and id; see prelude.lua. */
    private static final Pattern WAITING = Pattern.compile("[^ ]* (\\d{1,15}):(.*)", Pattern.DOTALL);

    private final RedisScriptExecutor redis;

    private final RedisScans scans;

    public RedisQueueInspector(RedisScriptExecutor redis) {
        this.redis = redis;
        this.scans = new RedisScans(redis);
    }

    @Override
    public CompletableFuture<PartitionCounts> counts(Partition partition) {
        return this.redis.run(RedisScripts.STATISTICS, partition)
            .thenApply((reply) -> new PartitionCounts(number(reply.get(0)), number(reply.get(1)), number(reply.get(5)),
                    number(reply.get(2)), number(reply.get(6)), number(reply.get(3)),
                    ScriptCodec.instantOrNull(reply.get(4)), Pause.parse(text(reply.get(7))),
                    (int) number(reply.get(8)), ScriptCodec.ofMicros(number(reply.get(9)))));
    }

    @Override
    public CompletableFuture<DueForecast> dueForecast(Partition partition) {
        byte[][] spans = FORECAST.stream().map((span) -> bytes(span.toMillis())).toArray(byte[][]::new);
        return this.redis.run(RedisScripts.STATISTICS, partition, spans).thenApply((reply) -> {
            long due = number(reply.get(1));
            long waiting = number(reply.get(5));
            long[] within = reply.subList(STATISTICS_FIELDS, reply.size())
                .stream()
                .mapToLong(ScriptCodec::number)
                .toArray();
            return new DueForecast(partition.queue().value(), due, within[0] - due, within[1] - within[0],
                    within[2] - within[1], within[3] - within[2], number(reply.get(0)) - waiting - within[3], waiting);
        });
    }

    @Override
    public CompletableFuture<List<ListedMessage>> messages(Partition partition, MessageSelection listing,
            @Nullable MessageCursor after, int limit) {
        return this.redis
            .run(RedisScripts.MESSAGES, partition, bytes(listing.name()), bytes((after != null) ? after.score() : ""),
                    ScriptCodec.bytesOfRaw((after != null) ? after.member() : ""), bytes(limit))
            .thenApply((reply) -> {
                List<ListedMessage> messages = new ArrayList<>();
                for (int i = 1; i < reply.size(); i += LISTED_FIELDS) {
                    messages.add(listed(partition, listing, number(reply.get(0)), reply.subList(i, i + LISTED_FIELDS)));
                }
                return messages;
            });
    }

    @Override
    public CompletableFuture<DueCounts> dueCounts(Partition partition, List<Instant> ends) {
        byte[][] times = ends.stream().map((end) -> bytes("@" + end.toEpochMilli())).toArray(byte[][]::new);
        return this.redis.run(RedisScripts.STATISTICS, partition, times).thenApply((reply) -> {
            long waiting = number(reply.get(5));
            return new DueCounts(ScriptCodec.ofMicros(number(reply.get(9))), number(reply.get(1)),
                    reply.subList(STATISTICS_FIELDS, reply.size()).stream().map(ScriptCodec::number).toList(),
                    number(reply.get(0)) - waiting, waiting);
        });
    }

    @Override
    public CompletableFuture<MessageScanPage> scan(Partition partition, ScanSelection selection, String idPrefix,
            @Nullable String cursor) {
        return this.scans.scan(partition, selection, idPrefix, cursor);
    }

    @Override
    public CompletableFuture<RetryingStep> countRetrying(Partition partition, @Nullable String cursor) {
        return this.scans.countRetrying(partition, cursor);
    }

    @Override
    public CompletableFuture<LocatedId> locate(Partition partition, String id, @Nullable String cursor) {
        return this.scans.locate(partition, id, cursor);
    }

    @Override
    public CompletableFuture<DeadLetterSummaryPage> deadLetterSummaries(Partition partition, @Nullable String cursor,
            int limit) {
        return this.scans.deadLetterSummaries(partition, cursor, limit);
    }

    private static ListedMessage listed(Partition partition, MessageSelection listing, long now, List<Object> entry) {
        String member = ScriptCodec.raw(entry.get(0));
        String score = text(entry.get(1));
        Attempts tried = Attempts.of(entry.get(2));
        Details details = Details.of(entry.get(3));
        Matcher waiting = WAITING.matcher(member);
        boolean waits = listing == MessageSelection.WAITING_IN_GROUP && waiting.matches();
        String id = ScriptCodec.name(ScriptCodec.bytesOfRaw(waits ? waiting.group(2) : member));
        long time = ScriptCodec.ceil(waits ? ScriptCodec.bytesOfRaw(waiting.group(1)) : entry.get(1));
        boolean leased = listing == MessageSelection.LEASED && time > now;
        Instant due = (listing != MessageSelection.LEASED) ? Instant.ofEpochMilli(time)
                : (details.dueAt() != null && tried.failures() == 0) ? details.dueAt()
                        : Instant.ofEpochMilli(Math.floorDiv(time, 1_000));
        return new ListedMessage(new MessageCursor(score, member),
                new MessageSummary(partition.queue().value(), id, leased ? MessageState.LEASED : MessageState.SCHEDULED,
                        leased ? null : due, leased ? ScriptCodec.ofMicros(time) : null, details.expiresAt(),
                        details.lane(), details.group(), tried.failures(), tried.lapses(),
                        Attempts.reasonsOf(entry.get(2))));
    }

}
