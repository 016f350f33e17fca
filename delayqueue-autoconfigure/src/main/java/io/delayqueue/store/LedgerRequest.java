package io.delayqueue.store;

import java.time.Duration;
import java.util.List;

/**
 * Holds what a journal asks of a partition.
 *
 * @param journal the identity of the journal, without blanks
 * @param claim how long other nodes do not get the returned changes
 * @param keep how long the store remembers an end after its row was deleted
 * @param recorded changes that the journal has recorded
 */
public record LedgerRequest(String journal, Duration claim, Duration keep, List<LedgerEntry> recorded) {

    /** Maximum number of changes of one call. */
    public static final int LIMIT = 1000;

}
