package io.delayqueue.autoconfigure;

import io.delayqueue.QueueName;
import io.delayqueue.intake.IntakeGroup;
import io.delayqueue.intake.IntakeScheduler;
import io.delayqueue.intake.KafkaIntake;
import io.delayqueue.intake.RabbitIntake;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.template.DelayQueueTemplate;

import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.kafka.core.ConsumerFactory;

/**
 * Auto-configuration for intake: schedules the delayed messages of topics of Kafka and of
 * queues of RabbitMQ.
 */
@AutoConfiguration(after = DelayQueueForwardAutoConfiguration.class,
        afterName = { "org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration",
                "org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration" })
@ConditionalOnBean(DelayQueueTemplate.class)
public final class DelayQueueIntakeAutoConfiguration {

    DelayQueueIntakeAutoConfiguration() {
    }

    @Bean
    IntakeCheck delayQueueIntakeCheck(DelayQueueProperties properties, Environment environment) {
        return new IntakeCheck(properties, environment.getProperty("spring.application.name"));
    }

    /** Rejects intakes whose broker cannot be read from. */
    @Bean
    SmartInitializingSingleton delayQueueIntakeBrokerCheck(DelayQueueProperties properties,
            ObjectProvider<KafkaConfiguration> kafka, ObjectProvider<RabbitConfiguration> rabbit) {
        return () -> {
            if (kafka.getIfAvailable() == null) {
                properties.intake().kafka().forEach((topic, settings) -> {
                    throw new InvalidBrokerSettingException("delayqueue.intake.kafka.%s.to".formatted(topic),
                            String.valueOf(settings.to()),
                            "it needs spring-kafka, and one ConsumerFactory bean or one that is primary", null);
                });
            }
            if (rabbit.getIfAvailable() == null) {
                properties.intake().rabbit().forEach((queue, settings) -> {
                    throw new InvalidBrokerSettingException("delayqueue.intake.rabbit.%s.to".formatted(queue),
                            String.valueOf(settings.to()),
                            "it needs spring-rabbit, and one ConnectionFactory bean or one that is primary", null);
                });
            }
        };
    }

    /** Configures intake from Kafka. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConsumerFactory.class)
    @ConditionalOnSingleCandidate(ConsumerFactory.class)
    @Conditional(OnIntakeCondition.class)
    static class KafkaConfiguration {

        @Bean
        IntakeGroup delayQueueKafkaIntake(DelayQueueProperties properties, IntakeCheck check,
                ConsumerFactory<?, ?> consumers, EnvelopeCodec codec, DelayQueueTemplate operations) {
            return new IntakeGroup(properties.intake().kafka().entrySet().stream().map((entry) -> {
                IntakeSettings.Topic settings = entry.getValue();
                IntakeScheduler scheduler = new IntakeScheduler("kafka:" + entry.getKey(),
                        new QueueName(String.valueOf(settings.to())), codec, operations, System::nanoTime);
                return new KafkaIntake(consumers, entry.getKey(), check.groupId(entry.getKey(), settings),
                        settings.concurrency(), scheduler);
            }).toList());
        }

    }

    /** Configures intake from RabbitMQ. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(SimpleMessageListenerContainer.class)
    @ConditionalOnSingleCandidate(ConnectionFactory.class)
    @Conditional(OnIntakeCondition.class)
    static class RabbitConfiguration {

        @Bean
        IntakeGroup delayQueueRabbitIntake(DelayQueueProperties properties, IntakeCheck check,
                ConnectionFactory connections, EnvelopeCodec codec, DelayQueueTemplate operations) {
            return new IntakeGroup(properties.intake().rabbit().entrySet().stream().map((entry) -> {
                IntakeSettings.Source settings = entry.getValue();
                IntakeScheduler scheduler = new IntakeScheduler("rabbit:" + entry.getKey(),
                        new QueueName(String.valueOf(settings.to())), codec, operations, System::nanoTime);
                return new RabbitIntake(connections, entry.getKey(), settings.concurrency(), settings.rejectInvalid(),
                        scheduler);
            }).toList());
        }

    }

}
