package io.delayqueue.forward;

/**
 * Defines the names of the headers of forwarded messages, and of those that intake reads.
 * Their values are texts. A forwarded message also has the headers that its sender set,
 * such as those of a trace.
 * <p>
 * A producer delays a record by ten minutes: <pre class="code">
 * record.headers().add(BrokerHeaders.DELAY, "PT10M".getBytes(StandardCharsets.UTF_8));
 * </pre>
 */
public final class BrokerHeaders {

    /** Prefix of all these names; a header of the sender with it is not forwarded. */
    public static final String PREFIX = "delayqueue-";

    /**
     * The id of the message. Consumers recognise a repeated message by it, and intake
     * uses it as the id.
     */
    public static final String ID = PREFIX + "id";

    /** The queue that the message was forwarded from. */
    public static final String QUEUE = PREFIX + "queue";

    /** The group of the message, if it has one. */
    public static final String GROUP = PREFIX + "group";

    /**
     * The time at which the attempt was due, on the store's clock, in ISO 8601. For
     * intake, the time at which the message is to be due, in ISO 8601 or in milliseconds
     * since 1970.
     */
    public static final String DUE = PREFIX + "due";

    /**
     * For intake, the time until the message is due, counted from when it is stored, in
     * ISO 8601 or in milliseconds.
     */
    public static final String DELAY = PREFIX + "delay";

    /** For intake, the priority of the message. */
    public static final String PRIORITY = PREFIX + "priority";

    /**
     * The number of the attempt, from 1. Every forwarded message has it, so intake
     * rejects a message with it.
     */
    public static final String ATTEMPT = PREFIX + "attempt";

    /**
     * The revision of a message of a ledger: a number that is greater for each later
     * message of the id. Consumers of a queue that uses ids again recognise a repeated
     * message by both.
     */
    public static final String REVISION = PREFIX + "revision";

    /**
     * A header of a stored message: the key that its record had before intake. It is the
     * key of the record when the message is forwarded, unless the message has a group.
     */
    public static final String KEY = PREFIX + "key";

    /**
     * Prefix of the headers of a stored message whose values were no texts before intake:
     * a stored value is in Base64, and is forwarded as bytes, without this prefix.
     */
    public static final String BINARY = PREFIX + "binary-";

    /** The type of the payload, which is JSON. */
    public static final String CONTENT_TYPE = "contentType";

    /** The type of every payload. */
    public static final String JSON = "application/json";

    private BrokerHeaders() {
    }

}
