package io.delayqueue.admin;

/**
 * Selects what a scan of a queue examines.
 *
 * @see DelayQueueInspector#scan
 */
public enum ScanSelection {

    /** Waiting and in-flight messages, and dead letters. */
    ALL,

    /** Messages that wait, except those that wait in their group. */
    SCHEDULED,

    /** Scheduled messages that are due. */
    DUE,

    /** In-flight messages. */
    LEASED,

    /** Messages that wait in their group. */
    WAITING_IN_GROUP,

    /** Messages whose handler has failed, and that wait or are in flight again. */
    RETRYING,

    /** Dead letters. */
    DEAD

}
