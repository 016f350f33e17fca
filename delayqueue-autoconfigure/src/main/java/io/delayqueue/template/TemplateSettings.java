package io.delayqueue.template;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;

import io.delayqueue.QueueName;
import io.delayqueue.consume.ConsumeSettings;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.Texts;

/**
 * Holds the settings of the template.
 *
 * @param maxPayloadSize maximum size of the stored form in bytes, including headers and a
 * frame of about 20 bytes
 * @param afterCommit whether a send inside a transaction waits for its commit, unless the
 * message says otherwise
 * @param waitLimit longest wait for an answer of the store; longer than the store's own
 * time limit, which normally applies first
 * @param receive how to receive from a queue
 * @param observations observes sends
 * @param admission called with the queue of each message before it is sent; throws
 * {@link io.delayqueue.UnknownQueueException} to reject it
 */
public record TemplateSettings(int maxPayloadSize, boolean afterCommit, Duration waitLimit,
        Function<QueueName, ConsumeSettings> receive, MessageObservations observations, Consumer<QueueName> admission) {

    /** The property of {@link #maxPayloadSize()}, for exception messages. */
    public static final String MAX_PAYLOAD_SIZE = "delayqueue.max-payload-size";

    /** Creates settings without observations that allow sends to any queue. */
    public TemplateSettings(int maxPayloadSize, boolean afterCommit, Duration waitLimit,
            Function<QueueName, ConsumeSettings> receive) {
        this(maxPayloadSize, afterCommit, waitLimit, receive, MessageObservations.NONE, (queue) -> {
        });
    }

    public TemplateSettings {
        if (maxPayloadSize < 1) {
            throw new IllegalArgumentException(
                    "%s must be at least 1 byte, but was %d".formatted(MAX_PAYLOAD_SIZE, maxPayloadSize));
        }
        if (waitLimit.isNegative() || waitLimit.isZero()) {
            throw new IllegalArgumentException(
                    "The wait limit must be more than zero, but was " + Texts.span(waitLimit));
        }
    }

}
