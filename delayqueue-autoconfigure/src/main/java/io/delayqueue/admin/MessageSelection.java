package io.delayqueue.admin;

/**
 * Selects the messages of a queue to list, and their order.
 *
 * @see DelayQueueInspector#messages
 */
public enum MessageSelection {

    /**
     * Messages that wait for their due time or for a listener, of all priorities, by due
     * time; of each group only the first one.
     */
    SCHEDULED,

    /** Scheduled messages that are due. */
    DUE,

    /**
     * In-flight messages, by the end of the lease; includes leases that have just run
     * out.
     */
    LEASED,

    /** Messages that wait in their group, by group and due time. */
    WAITING_IN_GROUP

}
