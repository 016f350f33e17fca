package io.delayqueue.forward;

/**
 * Defines the names of the headers of forwarded messages. Their values are texts. A
 * forwarded message also has the headers that its sender set, such as those of a trace.
 */
public final class ForwardHeaders {

    /** Prefix of all these names; a header of the sender with it is not forwarded. */
    public static final String PREFIX = "delayqueue-";

    /** The id of the message. Consumers recognise a repeated message by it. */
    public static final String ID = PREFIX + "id";

    /** The queue that the message was forwarded from. */
    public static final String QUEUE = PREFIX + "queue";

    /** The group of the message, if it has one. */
    public static final String GROUP = PREFIX + "group";

    /**
     * The time at which the attempt was due, on the store's clock, in ISO 8601.
     */
    public static final String DUE = PREFIX + "due";

    /** The number of the attempt, from 1. */
    public static final String ATTEMPT = PREFIX + "attempt";

    /** The type of the payload, which is JSON. */
    public static final String CONTENT_TYPE = "contentType";

    /** The type of every payload. */
    public static final String JSON = "application/json";

    private ForwardHeaders() {
    }

}
