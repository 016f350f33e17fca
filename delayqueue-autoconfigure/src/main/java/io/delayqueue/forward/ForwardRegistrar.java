package io.delayqueue.forward;

import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;

import io.delayqueue.QueueName;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.poll.ListenerSettings;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers a listener for each queue that is forwarded. It has the settings of the queue
 * except for the timeout of a handler, since that would count as a failure.
 */
public final class ForwardRegistrar {

    private static final Logger logger = LoggerFactory.getLogger(ForwardRegistrar.class);

    private static final String ID = "forward.";

    private final DelayedListenerRegistry registry;

    private final EnvelopeCodec codec;

    private final List<ForwarderFactory> factories;

    private final LongSupplier nanoTime;

    /**
     * Creates a registrar.
     * @param factories create the forwarders, one for each scheme
     */
    public ForwardRegistrar(DelayedListenerRegistry registry, EnvelopeCodec codec, List<ForwarderFactory> factories,
            LongSupplier nanoTime) {
        this.registry = registry;
        this.codec = codec;
        this.factories = List.copyOf(factories);
        this.nanoTime = nanoTime;
    }

    /**
     * Registers the listener of a queue.
     * @param target the scheme of a broker, a colon, and the destination on it
     * @throws IllegalArgumentException if the target is not valid
     * @throws IllegalStateException if another listener handles the queue
     */
    public void register(QueueName queue, String target, ForwarderFactory.Options options) {
        int colon = target.indexOf(':');
        String scheme = (colon >= 0) ? target.substring(0, colon) : "";
        ForwarderFactory factory = this.factories.stream()
            .filter((each) -> each.scheme().equals(scheme))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException(unknown(scheme)));
        MessageForwarder forwarder = factory.create(target.substring(colon + 1), options);
        this.registry.register(
                ID + queue.value(), queue, new ForwardingHandler(this.codec, forwarder,
                        new ForwardingHandler.Route(queue.value(), target), options.timeout(), this.nanoTime),
                ForwardRegistrar::settings);
        logger.info("Messages of queue '{}' are forwarded to '{}'", queue, target);
    }

    private String unknown(String scheme) {
        return switch (scheme) {
            case "kafka" -> "it needs spring-kafka, and one ProducerFactory bean or one that is primary";
            case "rabbit" -> "it needs spring-rabbit, and one ConnectionFactory bean or one that is primary";
            default -> "it must begin with one of "
                    + this.factories.stream().map((factory) -> factory.scheme() + ":").sorted().toList();
        };
    }

    private static ListenerSettings settings(ListenerSettings queue) {
        return queue.withTimeout(null).withNoRetryFor(Set.of(UndeliverableMessageException.class));
    }

}
