package io.delayqueue.forward;

import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.support.GenericMessage;

/**
 * Creates forwarders to beans that are message channels. A channel can accept a message
 * before a broker has it, and its answer does not show when the broker has it. Therefore
 * the configuration must allow unconfirmed messages.
 */
public final class ChannelForwarderFactory implements ForwarderFactory {

    /** Exceptions of clients that may not be on the class path. */
    private static final Set<String> UNAVAILABLE = Set.of("org.springframework.amqp.AmqpConnectException",
            "org.springframework.amqp.AmqpIOException", "org.springframework.amqp.AmqpTimeoutException",
            "org.springframework.amqp.AmqpAuthenticationException", "org.apache.kafka.common.errors.RetriableException",
            "org.apache.kafka.common.errors.AuthenticationException",
            "org.apache.kafka.common.errors.AuthorizationException");

    private final BeanFactory beans;

    public ChannelForwarderFactory(BeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public String scheme() {
        return "channel";
    }

    @Override
    public MessageForwarder create(String destination, Options options) {
        if (!options.unconfirmed()) {
            throw new IllegalArgumentException("a message channel confirms nothing, so messages could be lost behind "
                    + "it: set 'unconfirmed' to true to accept that, or forward to a MessageForwarder bean");
        }
        if (!this.beans.containsBean(destination) || !this.beans.isTypeMatch(destination, MessageChannel.class)) {
            throw new IllegalArgumentException("there is no MessageChannel bean '%s'".formatted(destination));
        }
        MessageChannel channel = this.beans.getBean(destination, MessageChannel.class);
        return (message) -> {
            if (!send(channel, destination, message, options.timeout())) {
                throw new BrokerUnavailableException("Channel '%s' does not accept the message".formatted(destination),
                        null);
            }
            return CompletableFuture.completedFuture(null);
        };
    }

    private static boolean send(MessageChannel channel, String name, ForwardedMessage message, Duration timeout) {
        try {
            return channel.send(convert(message), timeout.toMillis());
        }
        catch (RuntimeException ex) {
            for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
                if (cause instanceof BrokerUnavailableException || cause instanceof UndeliverableMessageException) {
                    throw (RuntimeException) cause;
                }
                if (reportsUnavailability(cause)) {
                    throw new BrokerUnavailableException(
                            "A broker behind channel '%s' cannot be reached: %s".formatted(name, cause), cause);
                }
            }
            throw ex;
        }
    }

    /** Returns whether the exception concerns a connection, and not the message. */
    private static boolean reportsUnavailability(Throwable cause) {
        return cause instanceof SocketException || cause instanceof SocketTimeoutException
                || cause instanceof UnknownHostException || cause instanceof ClosedChannelException
                || cause instanceof TimeoutException
                || Stream.<Class<?>>iterate(cause.getClass(), Objects::nonNull, Class::getSuperclass)
                    .anyMatch((type) -> UNAVAILABLE.contains(type.getName()));
    }

    private static Message<byte[]> convert(ForwardedMessage message) {
        Map<String, Object> headers = new HashMap<>(message.brokerHeaders());
        headers.putAll(message.binaryHeaders());
        headers.put(MessageHeaders.CONTENT_TYPE, BrokerHeaders.JSON);
        return new GenericMessage<>(message.payload(), headers);
    }

}
