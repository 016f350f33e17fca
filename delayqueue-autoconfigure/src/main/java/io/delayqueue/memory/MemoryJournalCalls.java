package io.delayqueue.memory;

import io.delayqueue.store.LedgerRequest;
import org.jspecify.annotations.Nullable;

/**
 * Counts the calls of the journal to which a partition belongs.
 *
 * @param journal its identity
 * @param count how often it has called; after a loss a greater number
 * @param lost whether the last call was the first one, or has named a greater count
 * @param committedAt the latest time that a call has named
 */
record MemoryJournalCalls(String journal, long count, boolean lost, long committedAt) {

    /** Returns whether a request is of this journal, and not of an older copy of it. */
    boolean accepts(LedgerRequest request) {
        return this.journal.equals(request.journal()) && !request.isOlderThan(this.committedAt);
    }

    /** Counts a call, unless it is not accepted. */
    static MemoryJournalCalls after(@Nullable MemoryJournalCalls known, LedgerRequest request) {
        if (known == null) {
            return new MemoryJournalCalls(request.journal(), next(0, request.count()), true, request.committedAt());
        }
        return known.accepts(request) ? new MemoryJournalCalls(known.journal, next(known.count, request.count()),
                known.count < request.count(), Math.max(known.committedAt, request.committedAt())) : known;
    }

    private static long next(long count, long seen) {
        return (seen > count) ? seen + 1000 : count + 1;
    }

}
