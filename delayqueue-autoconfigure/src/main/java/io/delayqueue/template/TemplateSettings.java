package io.delayqueue.template;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;

import io.delayqueue.QueueName;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.Texts;

/**
 * How the template sends and receives.
 *
 * @param maxPayloadSize most bytes of a message's stored form, its headers and a frame of
 * some 20 bytes included
 * @param afterCommit whether a send inside a transaction waits for its commit, unless the
 * message says otherwise
 * @param waitLimit longest wait for an answer that the store owes; longer than the
 * store's own time limit, which is the one that counts
 * @param receive how to receive from a queue
 * @param observations of sends
 * @param admission called with the queue of each message before it is sent; throws
 * {@link io.delayqueue.UnknownQueueException} to refuse it
 */
public record TemplateSettings(int maxPayloadSize, boolean afterCommit, Duration waitLimit,
        Function<QueueName, ReceiveSettings> receive, MessageObservations observations, Consumer<QueueName> admission) {

    /** The property behind {@link #maxPayloadSize()}, for messages. */
    public static final String MAX_PAYLOAD_SIZE = "delayqueue.max-payload-size";

    /** Sends are not observed, and go to any queue. */
    public TemplateSettings(int maxPayloadSize, boolean afterCommit, Duration waitLimit,
            Function<QueueName, ReceiveSettings> receive) {
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
