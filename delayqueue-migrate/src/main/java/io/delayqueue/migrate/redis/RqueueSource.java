package io.delayqueue.migrate.redis;

import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import io.delayqueue.MessageLimits;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceOptions;
import io.delayqueue.migrate.SourceStatus;
import io.lettuce.core.KeyValue;
import io.lettuce.core.ScoredValue;
import io.lettuce.core.ScriptOutputType;
import org.jspecify.annotations.Nullable;

/**
 * Moves the scheduled messages of Rqueue. Due and retried ones are left to its consumers,
 * unless {@code --source-option=ready=true} says that there are none any more. Periodic
 * messages stay, and are counted. Messages that were deleted, or enqueued again under
 * their id, are dropped.
 * <p>
 * A queue with priorities has one queue for each, such as {@code orders_high}. The
 * messages of that one get a priority by {@code --source-option=priority.orders_high=9}.
 */
public final class RqueueSource extends RedisSource {

    private static final String TAKEN = "delayqueue_migrate:rqueue";

    private static final String PREFIX = "__rq::";

    /** Does not change with the prefix of the other keys. */
    private static final String METADATA = "__rq::m-mdata::";

    private static final String PRIORITY = "priority.";

    private static final String COUNTS = ":counts";

    private static final int COUNTED_AT_ONCE = 1_000;

    private final InstantSource clock;

    /** The part of the keys after their prefix, by the name of the queue. */
    private final Map<String, String> tagged = new HashMap<>();

    /** Members at the head of the scheduled set that stay in it. */
    private final Map<String, Long> passed = new HashMap<>();

    private final Map<String, Integer> priorities = new HashMap<>();

    private String prefix = PREFIX;

    /** Begins the keys of the records: applications with other prefixes have others. */
    private String records = TAKEN + ":";

    private String scheduled = "d-queue::";

    private String ready = "queue::";

    private String processing = "p-queue::";

    private boolean takesReady;

    public RqueueSource() {
        this(InstantSource.system());
    }

    RqueueSource(InstantSource clock) {
        this.clock = clock;
    }

    @Override
    public void open(SourceOptions options) {
        this.prefix = options.setting("key-prefix").orElse(this.prefix);
        this.records = this.prefix.equals(PREFIX) ? TAKEN + ":" : TAKEN + "@" + this.prefix + ":";
        this.scheduled = options.setting("scheduled-prefix").orElse(this.scheduled);
        this.ready = options.setting("queue-prefix").orElse(this.ready);
        this.processing = options.setting("processing-prefix").orElse(this.processing);
        this.takesReady = flag("ready", options.setting("ready").orElse("false"));
        options.settings().forEach(this::priority);
        super.open(options);
    }

    private static boolean flag(String setting, String value) {
        if (!value.equals("true") && !value.equals("false")) {
            throw new IllegalArgumentException(
                    "--source-option=%s=%s is not valid: use true or false".formatted(setting, value));
        }
        return value.equals("true");
    }

    private void priority(String setting, String value) {
        if (setting.startsWith(PRIORITY)) {
            try {
                this.priorities.put(setting.substring(PRIORITY.length()),
                        MessageLimits.requirePriority(Integer.parseInt(value)));
            }
            catch (NumberFormatException ex) {
                throw new IllegalArgumentException(
                        "--source-option=%s=%s is not valid: use a number from 0 to 9".formatted(setting, value), ex);
            }
        }
    }

    @Override
    public List<String> queues() {
        for (String kind : List.of(this.scheduled, this.ready, this.processing)) {
            String start = this.prefix + kind;
            redis().scan(start + "*").forEach((key) -> add(key.substring(start.length())));
        }
        redis().scan(this.records + "*" + COUNTS)
            .forEach((key) -> add(key.substring(this.records.length(), key.length() - COUNTS.length())));
        return List.copyOf(new TreeSet<>(this.tagged.keySet()));
    }

    /** Adds a queue by the end of its keys, such as {@code {orders}_high}. */
    private void add(String end) {
        this.tagged.put(end.replaceFirst("^\\{([^{}]*)}", "$1"), end);
    }

    private String key(String kind, String queue) {
        return this.prefix + kind + tagged(queue);
    }

    private String tagged(String queue) {
        String end = this.tagged.get(queue);
        return (end != null) ? end : "{" + queue + "}";
    }

    @Override
    public SourceStatus status(String queue) {
        String key = key(this.scheduled, queue);
        long periodic = periodic(queue);
        TakenEntries.Counts counts = taken(queue)
            .counts(List.of(key, key(this.ready, queue), key(this.processing, queue)));
        long due = counts.sizes().get(1) + counts.sizes().get(2);
        long waiting = counts.sizes().get(0) - periodic;
        Map<String, Long> left = new LinkedHashMap<>();
        left.put("periodic: replace them by schedules", periodic);
        left.put("due or in processing, for the consumers of Rqueue", this.takesReady ? 0 : due);
        return counts.status(waiting + (this.takesReady ? due : 0), dueAt(key, 0), dueAt(key, -1), left);
    }

    /** Counts periodic messages in small steps, as each is examined. */
    private long periodic(String queue) {
        long periodic = 0;
        for (long first = 0;; first += COUNTED_AT_ONCE) {
            List<Long> page = taken(queue).run(MigrationScript.COUNT_PERIODIC, ScriptOutputType.MULTI,
                    List.of(key(this.scheduled, queue)), "", Long.toString(first), Integer.toString(COUNTED_AT_ONCE));
            periodic += page.get(0);
            if (page.get(1) < COUNTED_AT_ONCE) {
                return periodic;
            }
        }
    }

    private @Nullable Instant dueAt(String key, long rank) {
        List<ScoredValue<byte[]>> found = redis().commands().zrangeWithScores(RedisLink.bytes(key), rank, rank);
        return found.isEmpty() ? null : instant(text(found.get(0).getScore()));
    }

    @Override
    public List<SourceEntry> peek(String queue, long offset, int limit) {
        List<SourceEntry> entries = new ArrayList<>();
        for (ScoredValue<byte[]> member : redis().commands()
            .zrangeWithScores(RedisLink.bytes(key(this.scheduled, queue)), offset, offset + limit - 1)) {
            entries.add(
                    RqueueEntry.read(Integer.toString(entries.size() + 1), text(member.getScore()), member.getValue()));
        }
        return complete(queue, entries);
    }

    @Override
    public List<SourceEntry> take(String queue, String batch, int limit) {
        boolean fromStart = this.passed.getOrDefault(queue, 0L) == 0;
        while (true) {
            long skip = this.passed.getOrDefault(queue, 0L);
            TakenEntries.Batch taken = taken(queue).take(MigrationScript.TAKE_RQUEUE,
                    List.of(key(this.scheduled, queue)), batch, Integer.toString(limit), Long.toString(skip));
            boolean end = taken.entries().size() + taken.passed() < limit;
            this.passed.put(queue, end ? 0 : skip + taken.passed());
            if (!taken.entries().isEmpty()) {
                return complete(queue, taken.entries());
            }
            if (end && fromStart) {
                break;
            }
            // Others may have moved periodic messages at the head, so that some were
            // passed over.
            fromStart |= end;
        }
        return this.takesReady ? ready(queue, batch, limit) : List.of();
    }

    private List<SourceEntry> ready(String queue, String batch, int limit) {
        return complete(queue, taken(queue)
            .take(MigrationScript.TAKE_READY_RQUEUE, List.of(key(this.ready, queue), key(this.processing, queue)),
                    batch, Integer.toString(limit), Long.toString(this.clock.millis()))
            .entries());
    }

    @Override
    public List<SourceEntry> unsettled(String queue, int limit) {
        return complete(queue, super.unsettled(queue, limit));
    }

    /**
     * Adds what is not in the queue: the priority, and whether the application has
     * deleted the message or enqueued its id again. These records are in other slots than
     * the queue, so that no script can read them.
     */
    private List<SourceEntry> complete(String queue, List<SourceEntry> entries) {
        byte[][] records = entries.stream()
            .map((entry) -> RedisLink.bytes(METADATA + queue + "::" + entry.businessId()))
            .toArray(byte[][]::new);
        if (records.length == 0) {
            return entries;
        }
        List<KeyValue<byte[], byte[]>> found = redis().commands().mget(records);
        int priority = this.priorities.getOrDefault(queue, MessageLimits.NORMAL_PRIORITY);
        List<SourceEntry> all = new ArrayList<>(entries.size());
        for (int i = 0; i < entries.size(); i++) {
            byte[] metadata = found.get(i).hasValue() ? found.get(i).getValue() : null;
            all.add(RqueueEntry.complete(entries.get(i), metadata).withPriority(priority));
        }
        return all;
    }

    @Override
    TakenEntries taken(String queue) {
        return new TakenEntries(redis(), queue, this.records + tagged(queue), RqueueEntry::read);
    }

}
