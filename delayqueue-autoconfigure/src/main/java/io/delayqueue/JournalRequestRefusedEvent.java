package io.delayqueue;

/**
 * Reports that the store refused a request of the journal for good, such as a send that
 * would change the group of a held id. The request is not repeated. Published as an
 * application event on the journal's thread, and logged as an error.
 *
 * @param queue the queue
 * @param id the id of the message
 * @param failure the cause
 * @see AfterCommitSendFailedEvent
 * @see LedgerRestoredEvent
 */
public record JournalRequestRefusedEvent(String queue, String id, StoreRefusedException failure) {
}
