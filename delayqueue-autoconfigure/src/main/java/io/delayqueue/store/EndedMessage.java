package io.delayqueue.store;

/**
 * Names a message of a journal that has ended: it was handled, expired, dead-lettered,
 * cancelled or replaced.
 *
 * @param revision its row in the journal
 * @param id its id
 */
public record EndedMessage(long revision, String id) {

}
