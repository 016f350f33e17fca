package io.delayqueue.journal;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.delayqueue.QueueName;
import io.delayqueue.store.LedgerChanges;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerRequest;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Partition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the time that the database has committed with the latest one that the store
 * has seen, in each call for changes. If that of the database is earlier, it was restored
 * from a backup: its rows are of messages that may have ended since, and it assigns their
 * successors' revisions again.
 * <p>
 * <strong>Threads.</strong> Confined to that of the reconciler.
 */
final class DatabaseAge {

    private static final Logger logger = LoggerFactory.getLogger(DatabaseAge.class);

    /** How long other nodes do not get a change. */
    private static final Duration CHANGE_CLAIM = Duration.ofSeconds(30);

    private static final String OLDER = "The database of the journal is older than Redis: the last time that it has "
            + "committed is %s, and Redis has seen %s (%d) in queue '%s'. Nothing is relayed, swept or restored, and "
            + "no row is deleted. Connect to the current database, or accept this one, see "
            + "docs/operations.md#a-restored-database";

    private final JournalTable table;

    private final MessageStore store;

    private final JournalStatus status;

    /** The queues of which a partition has answered in this round. */
    private final Set<QueueName> reached = new HashSet<>();

    private JournalIdentity known = new JournalIdentity("", 0);

    /** The queue that has shown that the database is older. */
    private @Nullable QueueName witness;

    private boolean older;

    DatabaseAge(JournalTable table, MessageStore store, JournalStatus status) {
        this.table = table;
        this.store = store;
        this.status = status;
    }

    /** Begins a round of calls: reads the time. */
    void begin() {
        this.known = JournalIdentity.read(this.table);
        this.reached.clear();
        this.older = false;
    }

    /** Returns the identity of the journal. */
    String identity() {
        return this.known.identity();
    }

    /**
     * Calls a partition for changes.
     * @param keep how long the store remembers an end after its row was deleted
     * @param recorded changes that were recorded
     * @return the changes; {@code null} if the store refused the call because of the time
     */
    @Nullable LedgerChanges changes(Partition partition, Duration keep, List<LedgerEntry> recorded) {
        LedgerRequest request = request(keep, recorded);
        LedgerChanges changes = this.store.changes(partition, request).join();
        if (isRefused(request, changes)) {
            // Other nodes commit times too, so only one that is read now can be too
            // early.
            this.known = JournalIdentity.read(this.table);
            request = request(keep, recorded);
            if (isRefused(request, changes)) {
                report(partition.queue(), changes.committedAt());
                return null;
            }
            changes = this.store.changes(partition, request).join();
        }
        this.reached.add(partition.queue());
        return isRefused(request, changes) ? null : changes;
    }

    private LedgerRequest request(Duration keep, List<LedgerEntry> recorded) {
        return new LedgerRequest(this.known.identity(), this.known.committedAt(), CHANGE_CLAIM, keep, recorded);
    }

    private static boolean isRefused(LedgerRequest request, LedgerChanges changes) {
        return request.journal().equals(changes.journal()) && request.isOlderThan(changes.committedAt());
    }

    private void report(QueueName queue, long seen) {
        this.older = true;
        this.witness = queue;
        String reason = OLDER.formatted(Instant.ofEpochMilli(this.known.committedAt()), Instant.ofEpochMilli(seen),
                seen, queue);
        if (this.status.older(reason)) {
            logger.error(reason);
        }
    }

    /**
     * Ends a round: commits a time, unless the database is older.
     * @param queues the queues that were to be called
     * @return whether the database was older before, and is not now
     */
    boolean end(Set<QueueName> queues) {
        boolean over = !this.older && this.status.older() != null
                && (this.reached.contains(this.witness) || !queues.contains(this.witness));
        if (over) {
            this.status.older(null);
            logger.info("The database of the journal is not older than Redis any more: its queues are restored");
        }
        if (this.older || !this.reached.isEmpty() || queues.isEmpty()) {
            this.status.compared();
        }
        if (this.status.older() == null) {
            this.known.commit(this.table);
        }
        return over;
    }

}
