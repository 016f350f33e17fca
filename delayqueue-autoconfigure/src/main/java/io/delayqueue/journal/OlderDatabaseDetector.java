package io.delayqueue.journal;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.QueueName;
import io.delayqueue.store.LedgerChanges;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerRequest;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.OfferConditions;
import io.delayqueue.store.Partition;
import io.delayqueue.store.StoreFutures;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detects a database that has lost its last transactions, after a failover to a replica
 * that lagged or because it was restored from a backup: compares the time that it has
 * committed with the latest one that the store has seen, in each call for changes. If
 * that of the database is earlier, its rows may be of messages that have ended since, and
 * it assigns revisions again.
 * <p>
 * The node that commits the times is the maintainer, for all nodes of the namespace,
 * until it stops. Nodes without maintenance are never the maintainer.
 * <p>
 * <strong>Threads.</strong> Confined to that of the reconciler.
 */
final class OlderDatabaseDetector {

    private static final Logger logger = LoggerFactory.getLogger(OlderDatabaseDetector.class);

    /** How long other nodes do not get a change. */
    private static final Duration CHANGE_CLAIM = Duration.ofSeconds(30);

    /** How long the maintainer may be silent until another node takes its place. */
    private static final Duration MAINTAINER_TIMEOUT = Duration.ofSeconds(5);

    private static final String OLDER = "The database of the journal is older than Redis: the last time that it has "
            + "committed is %s, and Redis has seen %s (%d) in queue '%s'. Nothing is relayed, swept or restored, and "
            + "no row is deleted. %s, see docs/operations.md#a-restored-database";

    private static final String DECIDE = "Connect to the current database, or accept this one";

    private static final String RIGHTS = "It has lost its last transactions, and this user lacks the right to let it "
            + "skip their revisions";

    private final JournalDatabase database;

    private final RevisionSequence sequence;

    private final String node;

    private final MessageStore store;

    private final JournalStatus status;

    private final boolean maintenance;

    /** The partitions that have answered since the last round. */
    private final Set<Partition> reached = new HashSet<>();

    private JournalIdentity known = new JournalIdentity("", 0, "");

    /** When the present time was read first, in nanoseconds of the monotonic clock. */
    private long knownSince = System.nanoTime();

    /** When this node has committed a time last; 0 if it is not the maintainer. */
    private long maintainedAt;

    /** The partition that has shown that the database is older. */
    private @Nullable Partition witness;

    private boolean older;

    /** Whether the time was earlier at a read than before, and was not compared since. */
    private boolean earlier;

    OlderDatabaseDetector(JournalDatabase database, String node, MessageStore store, JournalStatus status,
            boolean maintenance) {
        this.database = database;
        this.sequence = new RevisionSequence(database);
        this.node = node;
        this.store = store;
        this.status = status;
        this.maintenance = maintenance;
    }

    /**
     * Begins a round: evaluates the answers since the last one, commits a time if this
     * node is the maintainer, or is to be, and reads the time for the next calls. Commits
     * nothing if the database is older, or if no partition has answered: then the time
     * that was read last was not compared.
     * @param queues the queues that are to be called
     * @return whether the database was older before, and is not now
     */
    boolean round(Set<QueueName> queues) {
        boolean over = !this.older && this.status.older() != null
                && (this.witness == null || this.reached.contains(this.witness));
        if (over) {
            this.status.older(null);
            logger.info("The database of the journal is not older than Redis any more: its queues are restored");
        }
        this.maintainedAt = isToCommit(queues) && this.known.commit(this.database, this.node, 0) ? System.nanoTime()
                : 0;
        this.reached.clear();
        this.older = false;
        read();
        boolean silent = System.nanoTime() - this.knownSince >= MAINTAINER_TIMEOUT.toNanos();
        this.status.unmaintainedSince((silent && !this.maintenance) ? this.knownSince : 0);
        if (queues.isEmpty()) {
            this.status.compared();
        }
        return over;
    }

    private boolean isToCommit(Set<QueueName> queues) {
        boolean compared = !this.known.identity().isEmpty() && this.status.older() == null
                && (!this.reached.isEmpty() || queues.isEmpty());
        boolean silent = System.nanoTime() - this.knownSince >= MAINTAINER_TIMEOUT.toNanos();
        return this.maintenance && compared
                && (this.node.equals(this.known.maintainer()) || silent || this.known.maintainer().isEmpty());
    }

    private void read() {
        JournalIdentity read = JournalIdentity.read(this.database);
        if (read.committedAt() != this.known.committedAt()) {
            this.knownSince = System.nanoTime();
        }
        this.earlier |= read.committedAt() < this.known.committedAt();
        this.known = read;
    }

    /** Returns the identity of the journal; empty before the first round. */
    String identity() {
        return this.known.identity();
    }

    /** Returns whether this node does what one node does for all. */
    boolean isMaintainer() {
        return this.maintainedAt != 0 && System.nanoTime() - this.maintainedAt < MAINTAINER_TIMEOUT.toNanos();
    }

    /**
     * Returns whether another node is the maintainer, and the database has not lost a
     * time that this node has read.
     */
    boolean isMaintainedByOther() {
        String maintainer = this.known.maintainer();
        return !maintainer.isEmpty() && !maintainer.equals(this.node) && !this.earlier && this.status.older() == null
                && System.nanoTime() - this.knownSince < MAINTAINER_TIMEOUT.toNanos();
    }

    /** Forgets a partition that no longer exists or belongs to a queue that is left. */
    void forget(Partition partition) {
        if (partition.equals(this.witness)) {
            this.witness = null;
        }
    }

    /** Calls a partition for changes. Does not wait. */
    CompletableFuture<LedgerChanges> call(Partition partition, LedgerRequest request) {
        return StoreFutures.send(() -> this.store.changes(partition, request));
    }

    /**
     * Returns a request for changes that names the time of the database.
     * @param count that of the last answer of the partition; 0 if there was none
     * @param recorded changes that were recorded
     * @param held changes that this node is recording
     */
    LedgerRequest request(long count, List<LedgerEntry> recorded, List<LedgerEntry> held) {
        return new LedgerRequest(this.known.identity(), this.known.committedAt(), count, CHANGE_CLAIM,
                OfferConditions.VOID_MEMORY, recorded, held, LedgerRequest.LIMIT);
    }

    /**
     * Returns a request that takes no changes, to read the backlog.
     * @param count that of the last answer of the partition; 0 if there was none
     */
    LedgerRequest backlogRequest(long count) {
        return new LedgerRequest(this.known.identity(), this.known.committedAt(), count, CHANGE_CLAIM,
                OfferConditions.VOID_MEMORY, List.of(), List.of(), 0);
    }

    /**
     * Compares the database with the answer to a call.
     * @return whether the store has answered with the changes; {@code false} if the
     * database is older than the store, or was older at the time of the call, which is to
     * be repeated
     */
    boolean accepts(Partition partition, LedgerRequest request, LedgerChanges changes) {
        if (isBehind(changes)) {
            // Other nodes commit times too, so only one that is read now can be too
            // early.
            read();
            if (isBehind(changes) && !isAccepted(partition, changes.committedAt())) {
                return false;
            }
        }
        if (isRefused(request, changes)) {
            return false;
        }
        this.reached.add(partition);
        this.earlier = false;
        this.status.compared();
        return true;
    }

    private static boolean isRefused(LedgerRequest request, LedgerChanges changes) {
        return request.journal().equals(changes.journal()) && request.isOlderThan(changes.committedAt());
    }

    private boolean isBehind(LedgerChanges changes) {
        return this.known.identity().equals(changes.journal()) && this.known.committedAt() < changes.committedAt();
    }

    /**
     * Accepts a database that has lost its last transactions, unless it has lost too much
     * for a failover. Skips the revisions that it would assign again.
     */
    private boolean isAccepted(Partition partition, long seen) {
        if (this.known.committedAt() + LedgerRequest.MAX_LOSS.toMillis() < seen) {
            report(partition, seen, DECIDE);
            return false;
        }
        try {
            this.sequence.skip();
        }
        catch (RuntimeException ex) {
            logger.error("The database of the journal cannot skip revisions", ex);
            report(partition, seen, RIGHTS);
            return false;
        }
        this.known.commit(this.database, this.known.maintainer(), seen + 1);
        logger.warn("The database of the journal has lost its last transactions: the last time that it has committed "
                + "is {}, and Redis has seen {} in queue '{}'. Messages of the lost transactions that Redis has are "
                + "handled, and their requests are lost like the other changes of these transactions",
                Instant.ofEpochMilli(this.known.committedAt()), Instant.ofEpochMilli(seen), partition.queue());
        read();
        return true;
    }

    private void report(Partition partition, long seen, String cure) {
        this.older = true;
        this.witness = partition;
        this.status.compared();
        String reason = OLDER.formatted(Instant.ofEpochMilli(this.known.committedAt()), Instant.ofEpochMilli(seen),
                seen, partition.queue(), cure);
        if (this.status.older(reason)) {
            logger.error(reason);
        }
    }

}
