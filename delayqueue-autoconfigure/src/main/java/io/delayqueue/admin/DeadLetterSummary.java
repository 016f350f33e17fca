package io.delayqueue.admin;

import java.time.Instant;

/**
 * Holds a dead letter without its content.
 *
 * @param queue the queue that dead-lettered it
 * @param id the id of this dead letter
 * @param messageId the id of the message
 * @param deadLetteredAt when the message was dead-lettered
 * @see DelayQueueInspector#scan
 */
public record DeadLetterSummary(String queue, String id, String messageId, Instant deadLetteredAt) {
}
