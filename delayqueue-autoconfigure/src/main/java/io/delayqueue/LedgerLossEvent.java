package io.delayqueue;

import java.util.List;

/**
 * Reports that Redis has lost messages of ledgers, and that this node has not restored
 * them, as {@code delayqueue.journal.automatic-restore} is {@code false}. Published as an
 * application event once the messages are counted, on the thread of the reconciler, which
 * a listener must not block, and logged as a warning. The messages wait for
 * {@code JournalOperations.restore}; each that is overdue by two minutes is restored by
 * itself. Dead letters are not counted.
 *
 * @param queues the queues that were compared together, by name
 * @param missing the number of their messages that are missing
 * @see LedgerRestoredEvent
 */
public record LedgerLossEvent(List<String> queues, long missing) {

    public LedgerLossEvent {
        queues = List.copyOf(queues);
    }

}
