package io.delayqueue.forward;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

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
            if (!channel.send(convert(message))) {
                throw new BrokerUnavailableException("Channel '%s' does not accept the message".formatted(destination),
                        null);
            }
            return CompletableFuture.completedFuture(null);
        };
    }

    private static Message<byte[]> convert(ForwardedMessage message) {
        Map<String, Object> headers = new HashMap<>(message.brokerHeaders());
        headers.put(MessageHeaders.CONTENT_TYPE, BrokerHeaders.JSON);
        return new GenericMessage<>(message.payload(), headers);
    }

}
