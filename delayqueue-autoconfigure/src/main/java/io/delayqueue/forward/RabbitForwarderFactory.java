package io.delayqueue.forward;

import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitTemplate;

/**
 * Creates forwarders to RabbitMQ, on the connection of the application, which must be
 * configured to confirm and to return messages.
 */
public final class RabbitForwarderFactory implements ForwarderFactory {

    private static final char SEPARATOR = '/';

    private final ConnectionFactory connections;

    private final BlockedConnections blocked = new BlockedConnections();

    public RabbitForwarderFactory(ConnectionFactory connections) {
        this.connections = connections;
        connections.addConnectionListener(this.blocked);
    }

    @Override
    public String scheme() {
        return "rabbit";
    }

    @Override
    public MessageForwarder create(String destination, Options options) {
        int end = destination.indexOf(SEPARATOR);
        if (end < 0) {
            throw new IllegalArgumentException("an exchange and a routing key are needed, as in "
                    + "'rabbit:orders/created', or 'rabbit:/orders' for a queue by its name");
        }
        if (!this.connections.isPublisherConfirms() || !this.connections.isPublisherReturns()) {
            throw new IllegalArgumentException("messages would be acknowledged without the confirmation of the "
                    + "broker: set spring.rabbitmq.publisher-confirm-type to 'correlated' and "
                    + "spring.rabbitmq.publisher-returns to 'true'");
        }
        RabbitTemplate template = new RabbitTemplate(this.connections);
        template.setMandatory(true);
        // Consumers on the same connection would be blocked with it.
        template.setUsePublisherConnection(true);
        return new RabbitForwarder(template, this.blocked, destination.substring(0, end),
                destination.substring(end + 1));
    }

}
