package io.delayqueue.forward;

import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Holds a due message that is forwarded to a broker.
 *
 * @param queue the queue that the message was sent to
 * @param id the id of the message
 * @param group its group; {@code null} for none
 * @param dueAt when this attempt was due, on the store's clock
 * @param attempt the number of this attempt, from 1; the unavailability of a broker does
 * not increase it
 * @param revision its row in the journal, greater for each later message of the id; 0 if
 * the queue is not a ledger
 * @param headers the headers that the sender set, including those of its trace
 * @param payload the payload as it is stored: JSON in UTF-8; must not be changed
 * @see MessageForwarder
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record ForwardedMessage(String queue, String id, @Nullable String group, Instant dueAt, int attempt,
        long revision, Map<String, String> headers, byte[] payload) {

    private static final String BINARY_KEY = BrokerHeaders.BINARY + BrokerHeaders.KEY;

    public ForwardedMessage {
        headers = Map.copyOf(headers);
    }

    /**
     * Returns the headers for the broker whose values are texts: those of the sender, and
     * those of {@link BrokerHeaders}, except for the type of the payload.
     */
    public Map<String, String> brokerHeaders() {
        Map<String, String> all = new LinkedHashMap<>();
        this.headers.forEach((name, value) -> {
            if (!name.startsWith(BrokerHeaders.PREFIX)) {
                all.put(name, value);
            }
        });
        all.put(BrokerHeaders.ID, this.id);
        all.put(BrokerHeaders.QUEUE, this.queue);
        if (this.group != null) {
            all.put(BrokerHeaders.GROUP, this.group);
        }
        all.put(BrokerHeaders.DUE, this.dueAt.toString());
        all.put(BrokerHeaders.ATTEMPT, Integer.toString(this.attempt));
        if (this.revision > 0) {
            all.put(BrokerHeaders.REVISION, Long.toString(this.revision));
        }
        return all;
    }

    /**
     * Returns the headers that were no texts when intake read the message from a broker,
     * by name. None has a name of {@link BrokerHeaders}.
     */
    public Map<String, byte[]> binaryHeaders() {
        Map<String, byte[]> binary = new LinkedHashMap<>();
        this.headers.keySet().stream().filter((name) -> name.startsWith(BrokerHeaders.BINARY)).forEach((name) -> {
            String original = name.substring(BrokerHeaders.BINARY.length());
            byte[] value = bytes(name);
            if (value != null && !original.startsWith(BrokerHeaders.PREFIX)) {
                binary.put(original, value);
            }
        });
        return binary;
    }

    /** Returns the key that the record had before intake; {@code null} if it had none. */
    byte @Nullable [] keyBeforeIntake() {
        String text = this.headers.get(BrokerHeaders.KEY);
        return (text != null) ? text.getBytes(UTF_8) : bytes(BINARY_KEY);
    }

    /** Returns a decoded header; {@code null} if there is none, or it is not valid. */
    private byte @Nullable [] bytes(String header) {
        String value = this.headers.get(header);
        try {
            return (value != null) ? Base64.getDecoder().decode(value) : null;
        }
        catch (IllegalArgumentException ex) {
            // Not written by intake: a sender may set any header.
            return null;
        }
    }

    /** Omits the content, which may be private. */
    @Override
    public String toString() {
        return "ForwardedMessage[queue=%s, id=%s, attempt=%d]".formatted(this.queue, this.id, this.attempt);
    }

}
