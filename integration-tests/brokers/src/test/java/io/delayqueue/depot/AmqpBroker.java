package io.delayqueue.depot;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.delayqueue.fixtures.redis.TcpProxy;
import io.delayqueue.fixtures.redis.TestDirectories;
import org.apache.qpid.server.SystemLauncher;

import org.springframework.amqp.core.AmqpAdmin;
import org.springframework.amqp.core.BindingBuilder;
import org.springframework.amqp.core.DirectExchange;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.Queue;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.amqp.rabbit.core.RabbitTemplate;

/**
 * Runs a broker of AMQP 0-9-1 in this JVM, once for all tests: Qpid, which needs no
 * installation. The system property {@code dq.rabbitmq.port} names the port of a running
 * RabbitMQ on this machine to use instead. Applications reach the broker through a proxy
 * that can be cut; the methods here do not.
 */
final class AmqpBroker {

    private static final String CONFIGURATION = """
            {
              "name": "broker",
              "modelVersion": "9.1",
              "authenticationproviders": [{
                "name": "plain", "type": "Plain", "secureOnlyMechanisms": [],
                "users": [{ "name": "guest", "type": "managed", "password": "guest" }]
              }],
              "ports": [{
                "name": "AMQP", "port": "%d", "bindingAddress": "127.0.0.1", "protocols": ["AMQP_0_9_1"],
                "authenticationProvider": "plain",
                "virtualhostaliases": [
                  { "name": "nameAlias", "type": "nameAlias" },
                  { "name": "defaultAlias", "type": "defaultAlias" },
                  { "name": "hostnameAlias", "type": "hostnameAlias" }
                ]
              }],
              "virtualhostnodes": [{
                "name": "default", "type": "Memory", "defaultVirtualHostNode": "true",
                "virtualHostInitialConfiguration": "{ \\"type\\": \\"Memory\\" }"
              }]
            }
            """;

    /** The port of RabbitMQ; {@code null} to launch Qpid. */
    private static final Integer RABBITMQ = Integer.getInteger("dq.rabbitmq.port");

    private static final String VIRTUAL_HOST = (RABBITMQ != null) ? "/" : "default";

    static final AmqpBroker SHARED = new AmqpBroker();

    private final TcpProxy proxy;

    private final RabbitTemplate template;

    private final AmqpAdmin admin;

    private AmqpBroker() {
        int port = (RABBITMQ != null) ? RABBITMQ : TcpProxy.freePort();
        if (RABBITMQ == null) {
            launch(port);
        }
        this.proxy = TcpProxy.to(port);
        CachingConnectionFactory connections = new CachingConnectionFactory("127.0.0.1", port);
        connections.setVirtualHost(VIRTUAL_HOST);
        this.template = new RabbitTemplate(connections);
        this.admin = new RabbitAdmin(connections);
    }

    private static void launch(int port) {
        Path directory = TestDirectories.create("qpid");
        try {
            Path configuration = Files.writeString(directory.resolve("broker.json"), CONFIGURATION.formatted(port));
            new SystemLauncher()
                .startup(Map.of("type", "Memory", "initialConfigurationLocation", configuration.toString(),
                        "startupLoggedToSystemOut", "false", "context", Map.of("qpid.work_dir", directory.toString())));
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }

    TcpProxy proxy() {
        return this.proxy;
    }

    /** Returns the settings of an application that publishes to this broker. */
    List<String> settings() {
        return List.of("--spring.rabbitmq.host=127.0.0.1", "--spring.rabbitmq.port=" + this.proxy.port(),
                "--spring.rabbitmq.virtual-host=" + VIRTUAL_HOST, "--spring.rabbitmq.publisher-confirm-type=correlated",
                "--spring.rabbitmq.publisher-returns=true");
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

}
