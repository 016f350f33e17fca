package io.delayqueue.journal;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.QueueName;

/**
 * Claims the requests that other nodes left behind. Those that follow another request of
 * their id on this node wait with its own ones, so the requests of an id do not need a
 * search each.
 * <p>
 * <strong>Threads.</strong> Confined to that of the relay.
 */
final class AbandonedRequests {

    /**
     * Maximum number of pages of a search, as the relay applies no requests meanwhile.
     */
    private static final int MAX_PAGES = 10;

    private final JournalTable table;

    private final RequestsBehind behind;

    private final Predicate<QueueName> left;

    /**
     * Creates the search.
     * @param behind receives the requests that follow others
     * @param left returns whether the requests of a queue cannot be applied now, so that
     * those that follow others are not claimed: they would be read again and again
     */
    AbandonedRequests(JournalTable table, RequestsBehind behind, Predicate<QueueName> left) {
        this.table = table;
        this.behind = behind;
        this.left = left;
    }

    /**
     * Claims requests that belong to no node and are the earliest of their ids, and those
     * that follow them, unless their queues are left for later. Other ones wait for a
     * delay if they could conceal such requests.
     * @return the rows of the earliest ones, at most {@link JournalTable#BATCH_LIMIT};
     * another node may claim some of them first
     */
    List<Long> claim(Duration delay) {
        for (int page = 0; page < MAX_PAGES; page++) {
            long begin = System.nanoTime();
            List<Row> rows = this.table.abandoned();
            boolean full = rows.size() == JournalTable.BATCH_LIMIT;
            List<Row> first = rows.stream().filter((row) -> !row.behind()).toList();
            List<Row> following = following(rows, first);
            List<Row> claimed = Stream.concat(first.stream(), following.stream()).toList();
            if (full) {
                this.table.claim(revisions(others(rows, claimed)), delay);
            }
            this.table.claim(revisions(claimed), this.table.claim());
            claimed.forEach((row) -> this.behind.remove(row.id(), row.revision()));
            following.forEach((row) -> this.behind.add(row.id(), Submission.of(row.revision(), begin)));
            if (!claimed.isEmpty() || !full) {
                return revisions(first);
            }
        }
        return List.of();
    }

    /** Returns the rows that follow a first one, or one that waits on this node. */
    private List<Row> following(List<Row> rows, List<Row> first) {
        Set<RequestsBehind.Id> ids = first.stream().map(Row::id).collect(Collectors.toSet());
        return rows.stream()
            .filter(Row::behind)
            .filter((row) -> ids.contains(row.id()) || this.behind.contains(row.id()))
            .filter((row) -> this.behind.hasRoom(row.id()))
            .filter((row) -> !this.left.test(new QueueName(row.id().queue())))
            .toList();
    }

    private static List<Row> others(List<Row> rows, List<Row> claimed) {
        Set<Row> known = Set.copyOf(claimed);
        return rows.stream().filter((row) -> !known.contains(row)).toList();
    }

    private static List<Long> revisions(List<Row> rows) {
        return rows.stream().map(Row::revision).sorted().toList();
    }

    /**
     * Identifies a request that belongs to no node.
     *
     * @param revision its row
     * @param id that of its message
     * @param behind whether an earlier request of the id is not accepted
     */
    record Row(long revision, RequestsBehind.Id id, boolean behind) {
    }

}
