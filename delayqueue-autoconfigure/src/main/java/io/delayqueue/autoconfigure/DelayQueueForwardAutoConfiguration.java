package io.delayqueue.autoconfigure;

import io.delayqueue.forward.BeanForwarderFactory;
import io.delayqueue.forward.ChannelForwarderFactory;
import io.delayqueue.forward.ForwarderFactory;
import io.delayqueue.forward.KafkaForwarderFactory;
import io.delayqueue.forward.RabbitForwarderFactory;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.poll.SharedListenerSettings;
import io.delayqueue.store.envelope.EnvelopeCodec;

import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.kafka.core.ProducerFactory;

/**
 * Auto-configuration for forwarding: runs a listener for each queue whose due messages
 * are forwarded to a broker.
 */
@AutoConfiguration(after = DelayQueueListenerAutoConfiguration.class,
        afterName = { "org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration",
                "org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration" })
@ConditionalOnBean(DelayedListenerRegistry.class)
public final class DelayQueueForwardAutoConfiguration {

    DelayQueueForwardAutoConfiguration() {
    }

    @Bean
    ForwardInitializer delayQueueForwardInitializer(DelayQueueProperties properties,
            ObjectProvider<DelayedListenerRegistry> registry, EnvelopeCodec codec,
            ObjectProvider<ForwarderFactory> factories, ObjectProvider<SharedListenerSettings> settings) {
        return new ForwardInitializer(properties, registry, codec, factories, settings);
    }

    @Bean
    ChannelForwarderFactory delayQueueChannelForwarderFactory(BeanFactory beans) {
        return new ChannelForwarderFactory(beans);
    }

    @Bean
    BeanForwarderFactory delayQueueBeanForwarderFactory(BeanFactory beans) {
        return new BeanForwarderFactory(beans);
    }

    /** Configures forwarding to Kafka. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ProducerFactory.class)
    @ConditionalOnSingleCandidate(ProducerFactory.class)
    static class KafkaConfiguration {

        @Lazy
        @Bean
        KafkaForwarderFactory delayQueueKafkaForwarderFactory(ProducerFactory<?, ?> producers, EnvelopeCodec codec) {
            return new KafkaForwarderFactory(producers, codec);
        }

    }

    /** Configures forwarding to RabbitMQ. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(RabbitTemplate.class)
    @ConditionalOnSingleCandidate(ConnectionFactory.class)
    static class RabbitConfiguration {

        @Lazy
        @Bean
        RabbitForwarderFactory delayQueueRabbitForwarderFactory(ConnectionFactory connections) {
            return new RabbitForwarderFactory(connections);
        }

    }

}
