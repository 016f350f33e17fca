package io.delayqueue.observation;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

import io.delayqueue.QueueName;
import io.delayqueue.SendResult;
import io.micrometer.observation.transport.SenderContext;
import org.jspecify.annotations.Nullable;

/** A send under observation. The carrier becomes headers of its messages. */
public final class SendObservationContext extends SenderContext<Map<String, String>> {

    private final QueueName queue;

    private final int messages;

    private @Nullable SendResult result;

    SendObservationContext(QueueName queue, int messages) {
        super((carrier, key, value) -> Objects.requireNonNull(carrier).put(key, value));
        setCarrier(new HashMap<>());
        this.queue = queue;
        this.messages = messages;
    }

    /** The queue sent to. */
    public QueueName queue() {
        return this.queue;
    }

    /** How many messages are sent together. */
    public int messages() {
        return this.messages;
    }

    /**
     * What the send of one message did; {@code null} before the answer, after a failure,
     * and for a batch.
     */
    public @Nullable SendResult result() {
        return this.result;
    }

    void result(SendResult result) {
        this.result = result;
    }

}
