package io.delayqueue.observation;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

import io.delayqueue.QueueName;
import io.delayqueue.SendResult;
import io.micrometer.observation.transport.SenderContext;
import org.jspecify.annotations.Nullable;

/**
 * Describes an observed send. The carrier becomes headers of its messages.
 *
 * @see SendObservationConvention
 */
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

    /** Returns the queue. */
    public QueueName queue() {
        return this.queue;
    }

    /** Returns the number of messages sent together. */
    public int messages() {
        return this.messages;
    }

    /**
     * Returns the result of the send; {@code null} before the answer, after a failure,
     * and for a batch.
     */
    public @Nullable SendResult result() {
        return this.result;
    }

    void result(SendResult result) {
        this.result = result;
    }

}
