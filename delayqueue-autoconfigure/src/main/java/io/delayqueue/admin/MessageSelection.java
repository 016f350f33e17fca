package io.delayqueue.admin;

/** Which messages of a queue to list, and in which order. */
public enum MessageSelection {

    /**
     * What waits for its time or for a worker, of all priorities, by due time; of a group
     * only the one whose turn it is.
     */
    SCHEDULED,

    /** Those of them that are due. */
    DUE,

    /** What is handed to workers, by the end of the lease; some leases may be over. */
    LEASED,

    /** What waits behind another of its group, by group and due time. */
    FOLLOWERS

}
