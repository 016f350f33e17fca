package io.delayqueue.migrate.redis;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceStatus;
import io.lettuce.core.ScoredValue;
import org.jspecify.annotations.Nullable;

/**
 * Reads and takes the entries of Redisson's {@code RDelayedQueue} that are not due. Due
 * ones, which Redisson has transferred to the list of the queue's name, are left to the
 * consumers of that list.
 */
public final class RedissonSource extends RedisSource {

    private static final String KEYS = "redisson_delay_queue";

    private static final String TIMEOUTS = KEYS + "_timeout:";

    private static final String ORDER = KEYS + ":";

    private static final String TAKEN = "delayqueue_migrate:redisson:";

    @Override
    public List<String> queues() {
        TreeSet<String> names = new TreeSet<>();
        redis().scan(KEYS + "*").forEach((key) -> {
            for (String prefix : List.of(TIMEOUTS, ORDER)) {
                if (key.startsWith(prefix)) {
                    names.add(untagged(key.substring(prefix.length())));
                }
            }
        });
        redis().scan(TAKEN + "*:counts").forEach((key) -> {
            String tagged = key.substring(TAKEN.length(), key.length() - ":counts".length());
            names.add(untagged(tagged));
        });
        return List.copyOf(names);
    }

    /** Returns the part of Redisson's keys that contains the name and the hash tag. */
    private static String tagged(String queue) {
        return queue.contains("{") ? queue : "{" + queue + "}";
    }

    private static String untagged(String tagged) {
        boolean whole = tagged.startsWith("{") && tagged.indexOf('}') == tagged.length() - 1;
        return whole ? tagged.substring(1, tagged.length() - 1) : tagged;
    }

    @Override
    public SourceStatus status(String queue) {
        List<String> keys = new ArrayList<>(List.of(timeouts(queue), order(queue)));
        keys.addAll(lists(queue));
        TakenEntries.Counts counts = taken(queue).counts(keys);
        // Each entry is in both, unless a script of Redisson has failed half way.
        long waiting = Math.max(counts.sizes().get(0), counts.sizes().get(1));
        long due = counts.sizes().stream().skip(2).mapToLong(Long::longValue).sum();
        return counts.status(waiting, dueAt(queue, 0), dueAt(queue, -1),
                Map.of("due, for the consumers of Redisson", due));
    }

    /**
     * Returns the lists of due values. A queue with a name that is wholly in braces has
     * the same other keys as the queue without them.
     */
    private static List<String> lists(String queue) {
        return queue.equals(tagged(queue)) ? List.of(queue) : List.of(queue, tagged(queue));
    }

    private @Nullable Instant dueAt(String queue, long rank) {
        List<ScoredValue<byte[]>> found = redis().commands()
            .zrangeWithScores(RedisLink.bytes(timeouts(queue)), rank, rank);
        return found.isEmpty() ? null : entry("", found.get(0)).dueAt();
    }

    @Override
    public List<SourceEntry> peek(String queue, long offset, int limit) {
        List<SourceEntry> entries = new ArrayList<>();
        redis().commands()
            .zrangeWithScores(RedisLink.bytes(timeouts(queue)), offset, offset + limit - 1)
            .forEach((member) -> entries.add(entry(Integer.toString(entries.size() + 1), member)));
        if (entries.size() < limit) {
            addListOnly(entries, queue, offset, limit);
        }
        return entries;
    }

    /**
     * Adds an unreadable entry for each that is in the list only, behind those of the
     * set. Which ones these are is found by the take, as it would need a scan here.
     */
    private void addListOnly(List<SourceEntry> entries, String queue, long offset, int limit) {
        List<Long> sizes = taken(queue).counts(List.of(timeouts(queue), order(queue))).sizes();
        long first = Math.max(offset, sizes.get(0));
        long end = Math.min(offset + limit, sizes.get(1));
        for (long place = first; place < end && entries.size() < limit; place++) {
            entries.add(SourceEntry.unreadable(Integer.toString(entries.size() + 1), null, new byte[0],
                    RedissonEntry.LIST_ONLY));
        }
    }

    private static SourceEntry entry(String id, ScoredValue<byte[]> member) {
        return RedissonEntry.read(id, text(member.getScore()), member.getValue());
    }

    @Override
    public List<SourceEntry> take(String queue, String batch, int limit) {
        return taken(queue)
            .take(MigrationScript.TAKE_REDISSON, List.of(order(queue), timeouts(queue)), batch, Integer.toString(limit))
            .entries();
    }

    @Override
    TakenEntries taken(String queue) {
        return new TakenEntries(redis(), queue, TAKEN + tagged(queue), RedissonEntry::read);
    }

    private static String order(String queue) {
        return ORDER + tagged(queue);
    }

    private static String timeouts(String queue) {
        return TIMEOUTS + tagged(queue);
    }

}
