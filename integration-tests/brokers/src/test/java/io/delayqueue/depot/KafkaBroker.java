package io.delayqueue.depot;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
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
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

import static org.awaitility.Awaitility.await;

/**
 * Runs a broker of Kafka in this JVM, once for all tests. Clients reach it through a
 * proxy that can be cut.
 */
final class KafkaBroker {

    static final KafkaBroker SHARED = new KafkaBroker();

    private final EmbeddedKafkaKraftBroker broker;

    private final TcpProxy proxy;

    private final KafkaProducer<byte[], byte[]> producer;

    private KafkaBroker() {
        int port = TcpProxy.freePort();
        this.broker = new EmbeddedKafkaKraftBroker(1, 1);
        this.broker.brokerProperty("advertised.listeners", "EXTERNAL://127.0.0.1:" + port);
        this.broker.brokerProperty("auto.create.topics.enable", "false");
        this.broker.brokerProperty("transaction.state.log.replication.factor", "1");
        this.broker.brokerProperty("transaction.state.log.min.isr", "1");
        this.broker.brokerProperty("group.initial.rebalance.delay.ms", "0");
        this.broker.brokerProperty("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer");
        this.broker.brokerProperty("allow.everyone.if.no.acl.found", "true");
        this.broker.afterPropertiesSet();
        String address = this.broker.getBrokersAsString();
        this.proxy = TcpProxy.between(port, Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)));
        this.producer = new KafkaProducer<>(Map.of("bootstrap.servers", bootstrapServers()), new ByteArraySerializer(),
                new ByteArraySerializer());
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

    /** Deletes a topic; the same name may be used again. */
    void deleteTopic(String name) {
        withAdmin((admin) -> admin.deleteTopics(List.of(name)).all());
        await().atMost(1, TimeUnit.MINUTES)
            .until(() -> !withAdmin((admin) -> admin.listTopics().names()).contains(name));
    }

    /** Denies one operation on a topic to everyone, this object included. */
    void deny(AclOperation operation, String topic) {
        withAdmin((admin) -> admin
            .createAcls(List.of(rule(topic, operation, AclPermissionType.DENY),
                    rule(topic, AclOperation.ALL, AclPermissionType.ALLOW)))
            .all());
    }

    private static AclBinding rule(String topic, AclOperation operation, AclPermissionType permission) {
        return new AclBinding(new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL),
                new AccessControlEntry("User:ANONYMOUS", "*", operation, permission));
    }

    /** Allows everything on a topic. */
    void allow(String topic) {
        withAdmin((admin) -> admin.deleteAcls(
                List.of(new AclBindingFilter(new ResourcePatternFilter(ResourceType.TOPIC, topic, PatternType.LITERAL),
                        AccessControlEntryFilter.ANY)))
            .all());
    }

    /** Sends a record with a key and a value that are texts. */
    void send(String topic, String key, String value, Map<String, String> headers) {
        Map<String, byte[]> bytes = new HashMap<>();
        headers.forEach((name, text) -> bytes.put(name, text.getBytes(StandardCharsets.UTF_8)));
        send(topic, key.getBytes(StandardCharsets.UTF_8), value.getBytes(StandardCharsets.UTF_8), bytes);
    }

    void send(String topic, byte[] key, byte[] value, Map<String, byte[]> headers) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, key, value);
        headers.forEach(record.headers()::add);
        try {
            this.producer.send(record).get(1, TimeUnit.MINUTES);
        }
        catch (InterruptedException | ExecutionException | TimeoutException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /**
     * Sends a record in a transaction of its own.
     * @param commit whether the transaction is committed, and not aborted
     */
    void sendInTransaction(String topic, String value, Map<String, String> headers, boolean commit) {
        try (KafkaProducer<byte[], byte[]> own = new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrapServers(), "transactional.id", UUID.randomUUID().toString()),
                new ByteArraySerializer(), new ByteArraySerializer())) {
            own.initTransactions();
            own.beginTransaction();
            String json = '"' + value + '"';
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, json.getBytes(StandardCharsets.UTF_8));
            headers.forEach((name, text) -> record.headers().add(name, text.getBytes(StandardCharsets.UTF_8)));
            own.send(record);
            own.flush();
            if (commit) {
                own.commitTransaction();
            }
            else {
                own.abortTransaction();
            }
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
        return records(topic, new StringDeserializer());
    }

    <T> List<ConsumerRecord<T, T>> records(String topic, Deserializer<T> deserializer) {
        try (KafkaConsumer<T, T> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", bootstrapServers(), "isolation.level", "read_committed"), deserializer,
                deserializer)) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic)
                .stream()
                .map((info) -> new TopicPartition(topic, info.partition()))
                .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            List<ConsumerRecord<T, T>> records = new ArrayList<>();
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
