package io.delayqueue.store;

import java.util.List;

/**
 * Holds what a partition returns to a journal.
 *
 * @param journal the identity of the journal to which the partition belongs; empty if to
 * none
 * @param count how often journals have called, this call included; a lower number than
 * that of an earlier call, which means that the store has lost data
 * @param backlog the number of messages that have ended and are not forgotten
 * @param messages messages whose rows the caller is to delete
 */
public record EndedMessages(String journal, long count, long backlog, List<EndedMessage> messages) {

}
