package io.delayqueue.store;

import io.delayqueue.QueueName;

/**
 * The right to handle a message, until it is settled or runs out.
 *
 * @param partition where the message is kept
 * @param id the id of the message
 * @param token proves the lease; every lease of a message has a later one than the lease
 * before
 */
public record Lease(Partition partition, String id, String token) {

    /** Between id and token in the name of a dead letter; means nothing in a URL. */
    private static final char SEPARATOR = '~';

    /** The queue of the message. */
    public QueueName queue() {
        return this.partition.queue();
    }

    /** The name that a dead letter has if this lease ends in one. */
    public String letterId() {
        return this.id + SEPARATOR + this.token;
    }

    /**
     * The id of the message that a dead letter was; for what names none, the same text.
     */
    public static String idOf(String letterId) {
        int end = letterId.lastIndexOf(SEPARATOR);
        return (end < 0) ? letterId : letterId.substring(0, end);
    }

}
