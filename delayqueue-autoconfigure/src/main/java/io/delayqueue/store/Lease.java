package io.delayqueue.store;

import io.delayqueue.QueueName;

/**
 * Represents the right to handle a message until it is settled or the lease runs out.
 *
 * @param partition where the message is stored
 * @param id the id of the message
 * @param token proves the lease; each lease of a message has a later token than the
 * previous one
 */
public record Lease(Partition partition, String id, String token) {

    /**
     * Separates id and token in the id of a dead letter; has no special meaning in a URL.
     */
    private static final char SEPARATOR = '~';

    /** Returns the queue of the message. */
    public QueueName queue() {
        return this.partition.queue();
    }

    /** Returns the id of the dead letter if this lease ends with dead-lettering. */
    public String deadLetterId() {
        return this.id + SEPARATOR + this.token;
    }

    /**
     * Returns the message id of a dead letter id, or the text itself if it is not a dead
     * letter id.
     */
    public static String idOf(String deadLetterId) {
        int end = deadLetterId.lastIndexOf(SEPARATOR);
        return (end < 0) ? deadLetterId : deadLetterId.substring(0, end);
    }

}
