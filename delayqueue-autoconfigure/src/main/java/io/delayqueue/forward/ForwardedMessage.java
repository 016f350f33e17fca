package io.delayqueue.forward;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

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
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record ForwardedMessage(String queue, String id, @Nullable String group, Instant dueAt, int attempt,
        long revision, Map<String, String> headers, byte[] payload) {

    public ForwardedMessage {
        headers = Map.copyOf(headers);
    }

    /**
     * Returns the headers for the broker: those of the sender, and those of
     * {@link BrokerHeaders}, except for the type of the payload.
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

    /** Omits the content, which may be private. */
    @Override
    public String toString() {
        return "ForwardedMessage[queue=%s, id=%s, attempt=%d]".formatted(this.queue, this.id, this.attempt);
    }

}
