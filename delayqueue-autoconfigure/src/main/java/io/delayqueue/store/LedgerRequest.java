package io.delayqueue.store;

import java.time.Duration;
import java.util.List;

/**
 * Holds what a journal asks of a partition.
 *
 * @param journal the identity of the journal, without blanks
 * @param committedAt the last time that the journal has committed, in milliseconds since
 * the epoch, on its clock
 * @param count the count of the caller's last call of the partition; 0 if none was
 * answered
 * @param claim how long other nodes do not get the returned changes
 * @param keep how long the store remembers an end after its row was deleted
 * @param recorded changes that the journal has recorded
 * @param held changes that other nodes do not get, as the caller goes on recording them
 * @param limit maximum number of changes that are returned; 0 to read the backlog only
 */
public record LedgerRequest(String journal, long committedAt, long count, Duration claim, Duration keep,
        List<LedgerEntry> recorded, List<LedgerEntry> held, int limit) {

    /** Maximum number of changes of one call. */
    public static final int LIMIT = 1000;

    /**
     * The number of changes of a partition that no journal has recorded, from which on no
     * message of a ledger is claimed.
     */
    public static final int MAX_UNRECORDED = 1_000_000;

    /**
     * Loss of a database that is accepted, as that of a failover to a lagging replica.
     */
    public static final Duration MAX_LOSS = Duration.ofMinutes(1);

    /** Returns whether the database of the journal has lost more than is accepted. */
    public boolean isOlderThan(long seen) {
        return this.committedAt + MAX_LOSS.toMillis() < seen;
    }

}
