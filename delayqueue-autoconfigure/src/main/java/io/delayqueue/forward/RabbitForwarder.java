package io.delayqueue.forward;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageProperties;
import org.springframework.amqp.core.ReturnedMessage;
import org.springframework.amqp.rabbit.connection.CorrelationData;
import org.springframework.amqp.rabbit.connection.PublisherCallbackChannel;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.core.NestedExceptionUtils;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Forwards messages to an exchange of RabbitMQ. A message is confirmed when the broker
 * has stored it in every queue that it is routed to. Without such a queue the broker
 * returns it, which makes it undeliverable. A missing exchange or permission stops all
 * messages alike, so they wait.
 */
final class RabbitForwarder implements MessageForwarder {

    /** The reply text with which the broker closes the channel of a message. */
    private static final String TOO_LARGE = "PRECONDITION_FAILED - message size";

    /** The text with which the client rejects the headers of a message. */
    private static final String TOO_LARGE_HEADERS = "Content headers exceeded max frame size";

    private static final int MAX_NAME_BYTES = 255;

    /** Headers that name further routing keys; of a sender they would be a route. */
    private static final Set<String> ROUTES = Set.of("CC", "BCC");

    /**
     * How long a rejected message may still be returned. RabbitMQ returns a message
     * before it confirms it, but Qpid rejects it first.
     */
    private static final Duration RETURN_GRACE = Duration.ofMillis(100);

    private final RabbitTemplate template;

    private final BlockedConnections blocked;

    private final String exchange;

    private final String routingKey;

    /** Messages without confirmation, by the ids of their correlation. */
    private final Map<String, CompletableFuture<ReturnedMessage>> unconfirmed = new ConcurrentHashMap<>();

    /**
     * Creates a forwarder.
     * @param template publishes mandatory messages; used by no other forwarder
     */
    RabbitForwarder(RabbitTemplate template, BlockedConnections blocked, String exchange, String routingKey) {
        this.template = template;
        this.blocked = blocked;
        this.exchange = exchange;
        this.routingKey = routingKey;
        template.setReturnsCallback(this::returned);
    }

    @Override
    public CompletionStage<?> forward(ForwardedMessage message) {
        String reason = this.blocked.reason();
        if (reason != null) {
            throw new BrokerUnavailableException("RabbitMQ has blocked the connection: " + reason, null);
        }
        Message converted = convert(message);
        CorrelationData correlation = new CorrelationData();
        CompletableFuture<ReturnedMessage> returned = new CompletableFuture<>();
        this.unconfirmed.put(correlation.getId(), returned);
        try {
            this.template.send(this.exchange, this.routingKey, converted, correlation);
        }
        catch (RuntimeException ex) { // the client throws others than AmqpException, too
            this.unconfirmed.remove(correlation.getId());
            String cause = String.valueOf(NestedExceptionUtils.getMostSpecificCause(ex).getMessage());
            if (cause.contains(TOO_LARGE_HEADERS)) {
                throw undeliverable(cause, ex);
            }
            throw new BrokerUnavailableException(
                    "Exchange '%s' cannot be reached: %s".formatted(this.exchange, ex.getMessage()), ex);
        }
        return correlation.getFuture()
            .thenCompose((confirm) -> end(correlation, confirm, returned))
            .whenComplete((done, failure) -> this.unconfirmed.remove(correlation.getId()));
    }

    private static Message convert(ForwardedMessage message) {
        MessageProperties properties = new MessageProperties();
        properties.setContentType(BrokerHeaders.JSON);
        properties.setContentEncoding(UTF_8.name());
        properties.setMessageId(message.id());
        setHeaders(properties, message.brokerHeaders());
        setHeaders(properties, message.binaryHeaders());
        return new Message(message.payload(), properties);
    }

    private static void setHeaders(MessageProperties properties, Map<String, ?> headers) {
        headers.forEach((name, value) -> {
            int bytes = name.getBytes(UTF_8).length;
            if (bytes > MAX_NAME_BYTES) {
                throw new UndeliverableMessageException(
                        "A header has a name of %d bytes, and at most %d are possible in AMQP".formatted(bytes,
                                MAX_NAME_BYTES),
                        null);
            }
            if (!ROUTES.contains(name)) {
                properties.setHeader(name, value);
            }
        });
    }

    private void returned(ReturnedMessage message) {
        Object id = message.getMessage()
            .getMessageProperties()
            .getHeader(PublisherCallbackChannel.RETURNED_MESSAGE_CORRELATION_KEY);
        CompletableFuture<ReturnedMessage> pending = (id != null) ? this.unconfirmed.get(id.toString()) : null;
        if (pending != null) {
            pending.complete(message);
        }
    }

    private CompletionStage<?> end(CorrelationData correlation, CorrelationData.Confirm confirm,
            CompletableFuture<ReturnedMessage> returned) {
        ReturnedMessage unroutable = correlation.getReturned();
        if (unroutable != null) {
            throw undeliverable(unroutable);
        }
        String reason = confirm.reason();
        if (confirm.ack()) {
            return CompletableFuture.completedFuture(null);
        }
        if (reason != null && reason.contains(TOO_LARGE)) {
            throw undeliverable(reason, null);
        }
        if (reason != null) {
            throw rejected(reason);
        }
        return returned.orTimeout(RETURN_GRACE.toMillis(), TimeUnit.MILLISECONDS).handle((message, none) -> {
            throw (message != null) ? undeliverable(message) : rejected("the broker rejected it");
        });
    }

    private RuntimeException rejected(String reason) {
        return new BrokerUnavailableException(
                "Exchange '%s' has not confirmed the message: %s".formatted(this.exchange, reason), null);
    }

    private RuntimeException undeliverable(String reason, @Nullable Throwable cause) {
        return new UndeliverableMessageException(
                "Exchange '%s' does not accept the message: %s".formatted(this.exchange, reason), cause);
    }

    private RuntimeException undeliverable(ReturnedMessage message) {
        return new UndeliverableMessageException("Exchange '%s' has no queue for routing key '%s': %s (%d)"
            .formatted(this.exchange, this.routingKey, message.getReplyText(), message.getReplyCode()), null);
    }

}
