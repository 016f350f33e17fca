package io.delayqueue.depot;

import java.util.ArrayList;
import java.util.List;

import io.delayqueue.fixtures.redis.TcpProxy;
import org.junit.jupiter.api.Assumptions;

import org.springframework.amqp.core.AmqpAdmin;
import org.springframework.amqp.core.BindingBuilder;
import org.springframework.amqp.core.DirectExchange;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.Queue;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.amqp.rabbit.core.RabbitTemplate;

/**
 * Gives access to a broker of AMQP 0-9-1, which all tests of this JVM share. Applications
 * reach it through a proxy that can be cut; the methods here do not.
 */
final class AmqpBroker {

    private final AmqpServer server;

    private final TcpProxy proxy;

    private final CachingConnectionFactory connections;

    private final RabbitTemplate template;

    private final AmqpAdmin admin;

    private AmqpBroker(int port, AmqpServer server) {
        this.server = server;
        this.proxy = TcpProxy.to(port);
        this.connections = new CachingConnectionFactory("127.0.0.1", port);
        this.connections.setVirtualHost(server.virtualHost());
        this.template = new RabbitTemplate(this.connections);
        this.admin = new RabbitAdmin(this.connections);
    }

    AmqpServer server() {
        return this.server;
    }

    /** Returns connections that do not pass the proxy. */
    CachingConnectionFactory connections() {
        return this.connections;
    }

    TcpProxy proxy() {
        return this.proxy;
    }

    /** Returns the settings of an application that publishes to this broker. */
    List<String> settings() {
        return List.of("--spring.rabbitmq.host=127.0.0.1", "--spring.rabbitmq.port=" + this.proxy.port(),
                "--spring.rabbitmq.virtual-host=" + this.server.virtualHost(),
                "--spring.rabbitmq.publisher-confirm-type=correlated", "--spring.rabbitmq.publisher-returns=true");
    }

    /** Declares an exchange without queues. */
    void declareExchange(String exchange) {
        this.admin.declareExchange(new DirectExchange(exchange));
    }

    /** Declares a queue that gets the messages with a routing key of an exchange. */
    void declareQueue(String queue, String exchange, String routingKey) {
        declareQueue(new Queue(queue));
        declareExchange(exchange);
        this.admin
            .declareBinding(BindingBuilder.bind(new Queue(queue)).to(new DirectExchange(exchange)).with(routingKey));
    }

    void declareQueue(Queue queue) {
        this.admin.declareQueue(queue);
    }

    void send(String queue, Message message) {
        this.template.send("", queue, message);
    }

    /** Takes all messages out of a queue. */
    List<Message> take(String queue) {
        List<Message> taken = new ArrayList<>();
        Message next = this.template.receive(queue);
        while (next != null) {
            taken.add(next);
            next = this.template.receive(queue);
        }
        return taken;
    }

    /** Lists the brokers that tests run with. */
    enum Product {

        /** Needs no installation, and runs in this JVM. */
        QPID,

        /** Skipped if it is not installed on this machine. */
        RABBITMQ;

        private AmqpBroker broker;

        synchronized AmqpBroker shared() {
            if (this == RABBITMQ) {
                Assumptions.assumeTrue(RabbitMqServer.isInstalled(), "RabbitMQ is not installed");
            }
            if (this.broker == null) {
                int port = TcpProxy.freePort();
                this.broker = new AmqpBroker(port, (this == QPID) ? new QpidServer(port) : new RabbitMqServer(port));
            }
            return this.broker;
        }

    }

}
