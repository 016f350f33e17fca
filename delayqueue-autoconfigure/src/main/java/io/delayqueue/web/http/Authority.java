package io.delayqueue.web.http;

/** What somebody may be permitted to do over HTTP. None includes another. */
public enum Authority {

    /** To look at queues, messages and dead letters, without what the messages say. */
    VIEW,

    /** To read payloads and headers wherever one may look. */
    PAYLOAD,

    /** To cancel, reschedule, pause, redrive and purge. */
    OPERATE,

    /** To send. */
    SEND,

    /** To claim messages, with what they say, and settle them. */
    CONSUME;

    /** As the application grants it: {@code DELAYQUEUE_VIEW} and so on. */
    public String text() {
        return "DELAYQUEUE_" + name();
    }

}
