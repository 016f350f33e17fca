package io.delayqueue.autoconfigure;

import io.delayqueue.QueueName;
import io.delayqueue.forward.ForwardRegistrar;
import io.delayqueue.forward.ForwarderFactory;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.store.envelope.EnvelopeCodec;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * Registers a listener for each queue that the properties forward, once the listeners of
 * annotated methods are registered.
 */
final class ForwardInitializer implements SmartInitializingSingleton {

    private final DelayQueueProperties properties;

    private final ObjectProvider<DelayedListenerRegistry> registry;

    private final EnvelopeCodec codec;

    private final ObjectProvider<ForwarderFactory> factories;

    private final ObjectProvider<SharedListenerSettings> settings;

    ForwardInitializer(DelayQueueProperties properties, ObjectProvider<DelayedListenerRegistry> registry,
            EnvelopeCodec codec, ObjectProvider<ForwarderFactory> factories,
            ObjectProvider<SharedListenerSettings> settings) {
        this.settings = settings;
        this.properties = properties;
        this.registry = registry;
        this.codec = codec;
        this.factories = factories;
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (this.properties.forward().isEmpty()) {
            return;
        }
        ForwardRegistrar registrar = new ForwardRegistrar(this.registry.getObject(), this.codec,
                this.factories.orderedStream().toList(), this.settings.getObject().execution().nanoTime());
        this.properties.forward().forEach((queue, forward) -> register(registrar, queue, forward));
    }

    private static void register(ForwardRegistrar registrar, String queue, ForwardSettings forward) {
        String target = (forward.to() != null) ? forward.to() : "";
        try {
            registrar.register(new QueueName(queue), target,
                    new ForwarderFactory.Options(queue, forward.unconfirmed(), forward.timeout()));
        }
        catch (IllegalArgumentException | IllegalStateException ex) {
            throw new InvalidBrokerSettingException("delayqueue.forward.%s.to".formatted(queue), target,
                    String.valueOf(ex.getMessage()), ex);
        }
    }

}
