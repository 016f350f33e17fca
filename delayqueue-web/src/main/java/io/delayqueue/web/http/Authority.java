package io.delayqueue.web.http;

/** Lists the permissions of HTTP callers. None includes another. */
public enum Authority {

    /**
     * Permits viewing queues, messages and dead letters, without payloads or headers.
     */
    VIEW,

    /** Permits reading payloads and headers wherever the caller may view. */
    PAYLOAD,

    /**
     * Permits cancel, reschedule, pause, restore, redrive, purge and erase; for schedules
     * pause, trigger and remove; for listeners of a node the concurrency and a pause.
     */
    OPERATE,

    /** Permits taking and reading the stack frames of overdue handlers. */
    DIAGNOSE,

    /** Permits sending, and putting schedules, which send. */
    SEND,

    /** Permits claiming messages, including their payloads, and settling them. */
    CONSUME;

    /** Returns the name of the granted authority, such as {@code DELAYQUEUE_VIEW}. */
    public String text() {
        return "DELAYQUEUE_" + name();
    }

}
