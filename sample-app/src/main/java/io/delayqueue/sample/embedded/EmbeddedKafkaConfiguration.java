package io.delayqueue.sample.embedded;

import java.util.List;

import org.apache.kafka.clients.admin.NewTopic;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.kafka.config.TopicBuilder;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

/**
 * Starts a broker of Kafka in this process for the profile {@code kafka}, unless one is
 * configured, and creates the topic.
 */
@Configuration(proxyBeanMethods = false)
@Profile("kafka")
class EmbeddedKafkaConfiguration {

    @Bean
    NewTopic receipts() {
        return TopicBuilder.name("receipts").build();
    }

    /**
     * The broker, and the address for the clients of this application. The component scan
     * finds this class without the outer one, so it needs the profile too.
     */
    @Configuration(proxyBeanMethods = false)
    @Profile("kafka")
    @ConditionalOnProperty(name = "spring.kafka.bootstrap-servers", matchIfMissing = true, havingValue = "embedded")
    static class Broker {

        @Bean
        EmbeddedKafkaKraftBroker embeddedKafka() {
            EmbeddedKafkaKraftBroker broker = new EmbeddedKafkaKraftBroker(1, 1);
            broker.brokerProperty("group.initial.rebalance.delay.ms", "0");
            return broker;
        }

        @Bean
        KafkaConnectionDetails embeddedKafkaConnectionDetails(EmbeddedKafkaKraftBroker embeddedKafka) {
            return () -> List.of(embeddedKafka.getBrokersAsString());
        }

    }

}
