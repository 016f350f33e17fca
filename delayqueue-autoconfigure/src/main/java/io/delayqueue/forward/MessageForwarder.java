package io.delayqueue.forward;

import java.util.concurrent.CompletionStage;

/**
 * Forwards due messages to a broker. The library has forwarders for Kafka, RabbitMQ and
 * message channels. A bean of this type forwards to any other broker, with
 * {@code delayqueue.forward.<queue>.to=bean:<name of the bean>}.
 * <p>
 * <strong>Threads.</strong> Called by several threads at a time, at most one for each
 * message that the concurrency of the queue allows. A call should return without waiting
 * for the confirmation of the broker.
 * <p>
 * A forwarder to Pulsar: <pre class="code">
 * &#64;Bean
 * MessageForwarder pulsar(PulsarTemplate&lt;byte[]&gt; pulsar) {
 *     return (message) -&gt; pulsar.newMessage(message.payload())
 *         .withTopic("orders")
 *         .withMessageCustomizer((builder) -&gt; builder.properties(message.brokerHeaders()))
 *         .sendAsync()
 *         .exceptionallyCompose((failure) -&gt; CompletableFuture
 *             .failedFuture(new BrokerUnavailableException("Pulsar does not confirm", failure)));
 * }
 * </pre>
 */
@FunctionalInterface
public interface MessageForwarder {

    /**
     * Forwards a message.
     * @param message the message; forwarded again after a failure, and possibly after a
     * success
     * @return completes when the broker has confirmed the message, which is acknowledged
     * then. If it completes with a {@link BrokerUnavailableException}, the message is
     * released, and no attempt counts; with an {@link UndeliverableMessageException}, it
     * is dead-lettered; with another exception, the attempt has failed. The method may
     * throw these exceptions too.
     */
    CompletionStage<?> forward(ForwardedMessage message);

}
