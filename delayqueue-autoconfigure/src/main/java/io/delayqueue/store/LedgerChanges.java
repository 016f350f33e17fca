package io.delayqueue.store;

import java.util.List;

/**
 * Holds what a partition returns to a journal.
 *
 * @param journal the identity of the journal to which the partition belongs; empty if to
 * none
 * @param count how often journals have called, this call included; after a loss of data
 * it is greater than the counts that other callers may name
 * @param committedAt the latest time that a call has named; if it is more than
 * {@link LedgerRequest#MAX_LOSS} after that of this call, nothing was changed
 * @param backlog the number of changes that are not forgotten
 * @param changes the changes that the caller is to record
 */
public record LedgerChanges(String journal, long count, long committedAt, long backlog, List<LedgerChange> changes) {

    /** Returns the entries of the changes. */
    public List<LedgerEntry> entries() {
        return this.changes.stream().map(LedgerChange::entry).toList();
    }

}
