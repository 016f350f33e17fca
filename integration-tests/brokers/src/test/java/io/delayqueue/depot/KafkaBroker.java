package io.delayqueue.depot;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

import io.delayqueue.fixtures.redis.TcpProxy;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

/**
 * Runs a broker of Kafka in this JVM, once for all tests. Clients reach it through a
 * proxy that can be cut.
 */
final class KafkaBroker {

    static final KafkaBroker SHARED = new KafkaBroker();

    private final EmbeddedKafkaKraftBroker broker;

    private final TcpProxy proxy;

    private final KafkaProducer<String, String> producer;

    private KafkaBroker() {
        int port = TcpProxy.freePort();
        this.broker = new EmbeddedKafkaKraftBroker(1, 1);
        this.broker.brokerProperty("advertised.listeners", "EXTERNAL://127.0.0.1:" + port);
        this.broker.brokerProperty("auto.create.topics.enable", "false");
        this.broker.brokerProperty("group.initial.rebalance.delay.ms", "0");
        this.broker.afterPropertiesSet();
        String address = this.broker.getBrokersAsString();
        this.proxy = TcpProxy.between(port, Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)));
        this.producer = new KafkaProducer<>(Map.of("bootstrap.servers", bootstrapServers()), new StringSerializer(),
                new StringSerializer());
    }

    TcpProxy proxy() {
        return this.proxy;
    }

    String bootstrapServers() {
        return "127.0.0.1:" + this.proxy.port();
    }

    /** Creates a topic with a name of its own, and returns the name. */
    String newTopic(int partitions, Map<String, String> settings) {
        String name = "topic-" + UUID.randomUUID();
        createTopic(name, partitions, settings);
        return name;
    }

    void createTopic(String name, int partitions, Map<String, String> settings) {
        withAdmin((admin) -> admin
            .createTopics(List.of(new NewTopic(name, Optional.of(partitions), Optional.empty()).configs(settings)))
            .all());
    }

    void send(ProducerRecord<String, String> record) {
        try {
            this.producer.send(record).get(1, TimeUnit.MINUTES);
        }
        catch (InterruptedException | ExecutionException | TimeoutException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Returns the committed offset of the first partition; zero if there is none. */
    long committed(String groupId, String topic) {
        return withAdmin((admin) -> admin.listConsumerGroupOffsets(groupId)
            .partitionsToOffsetAndMetadata()
            .thenApply((offsets) -> {
                OffsetAndMetadata offset = offsets.get(new TopicPartition(topic, 0));
                return (offset != null) ? offset.offset() : 0;
            }));
    }

    /** Makes a group without members read the first partition again. */
    void rewind(String groupId, String topic) {
        withAdmin((admin) -> admin
            .alterConsumerGroupOffsets(groupId, Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(0)))
            .all());
    }

    private <T> T withAdmin(Function<AdminClient, KafkaFuture<T>> call) {
        try (AdminClient admin = AdminClient.create(Map.of("bootstrap.servers", bootstrapServers()))) {
            return call.apply(admin).toCompletionStage().toCompletableFuture().join();
        }
    }

    /** Returns all records of a topic, each partition in the order of its offsets. */
    List<ConsumerRecord<String, String>> records(String topic) {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", bootstrapServers(), "isolation.level", "read_committed"),
                new StringDeserializer(), new StringDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic)
                .stream()
                .map((info) -> new TopicPartition(topic, info.partition()))
                .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            List<ConsumerRecord<String, String>> records = new ArrayList<>();
            while (partitions.stream()
                .anyMatch((partition) -> consumer.position(partition) < ends.getOrDefault(partition, 0L))) {
                consumer.poll(Duration.ofMillis(100)).forEach(records::add);
            }
            return records;
        }
    }

    static String header(ConsumerRecord<String, String> record, String name) {
        return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
    }

}
