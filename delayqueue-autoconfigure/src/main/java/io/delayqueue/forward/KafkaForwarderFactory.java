package io.delayqueue.forward;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import io.delayqueue.store.envelope.EnvelopeCodec;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.support.ProducerListener;

/**
 * Creates forwarders to Kafka. They share a producer of their own: it has the
 * configuration of the application's producer, but writes the stored JSON as it is, waits
 * for all in-sync replicas, and takes part in no transaction.
 * <p>
 * <strong>Threads.</strong> Created and closed by the application context.
 */
public final class KafkaForwarderFactory implements ForwarderFactory, AutoCloseable {

    private static final String SEPARATOR = "::";

    /** Bounds the time for which a send blocks its thread without metadata. */
    private static final Duration MAX_BLOCK = Duration.ofSeconds(5);

    /** Keeps the client from logging a failed connection every second. */
    private static final Duration MAX_RECONNECT = Duration.ofSeconds(5);

    private final ProducerFactory<?, ?> application;

    private final EnvelopeCodec codec;

    private @Nullable DefaultKafkaProducerFactory<String, byte[]> producers;

    /**
     * Creates a factory.
     * @param application has the configuration of the application's producer
     */
    public KafkaForwarderFactory(ProducerFactory<?, ?> application, EnvelopeCodec codec) {
        this.application = application;
        this.codec = codec;
    }

    @Override
    public String scheme() {
        return "kafka";
    }

    @Override
    public MessageForwarder create(String destination, Options options) {
        int end = destination.indexOf(SEPARATOR);
        String topic = (end >= 0) ? destination.substring(0, end) : destination;
        if (topic.isEmpty()) {
            throw new IllegalArgumentException("a topic is needed, as in 'kafka:orders' or 'kafka:orders::id'");
        }
        MessageKey key = (end >= 0) ? MessageKey.expression(destination.substring(end + SEPARATOR.length()), this.codec)
                : MessageKey.OF_GROUP_OR_ID;
        DefaultKafkaProducerFactory<String, byte[]> factory = producers(options.timeout());
        KafkaTemplate<String, byte[]> template = new KafkaTemplate<>(factory);
        // The default one logs the payload of each message that fails.
        template.setProducerListener(new ProducerListener<>() {
        });
        return new KafkaForwarder(template, factory::reset, topic, key);
    }

    private synchronized DefaultKafkaProducerFactory<String, byte[]> producers(Duration timeout) {
        if (this.producers == null) {
            this.producers = new DefaultKafkaProducerFactory<>(
                    configuration(this.application.getConfigurationProperties(), timeout), new StringSerializer(),
                    new ByteArraySerializer());
        }
        return this.producers;
    }

    /** Returns the configuration of the producer, from that of the application. */
    static Map<String, Object> configuration(Map<String, Object> application, Duration timeout) {
        Map<String, Object> own = new HashMap<>(application);
        own.remove(ProducerConfig.TRANSACTIONAL_ID_CONFIG);
        own.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, StringSerializer.class);
        own.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        own.put(ProducerConfig.ACKS_CONFIG, "all");
        own.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        own.merge(ProducerConfig.CLIENT_ID_CONFIG, "delayqueue", (given, none) -> given + "-delayqueue");
        own.putIfAbsent(ProducerConfig.MAX_BLOCK_MS_CONFIG, (int) MAX_BLOCK.toMillis());
        own.putIfAbsent(ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, (int) MAX_RECONNECT.toMillis());
        if (!own.containsKey(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG)
                && !own.containsKey(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG)
                && !own.containsKey(ProducerConfig.LINGER_MS_CONFIG)) {
            int millis = (int) Math.max(100, timeout.toMillis());
            own.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, millis);
            own.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, millis / 2);
        }
        return own;
    }

    /** Closes the producer. */
    @Override
    public synchronized void close() {
        if (this.producers != null) {
            this.producers.destroy();
            this.producers = null;
        }
    }

}
