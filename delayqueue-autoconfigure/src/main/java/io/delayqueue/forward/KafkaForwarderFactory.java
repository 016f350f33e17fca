package io.delayqueue.forward;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import io.delayqueue.store.envelope.EnvelopeCodec;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.support.ProducerListener;

/**
 * Creates forwarders to Kafka. Each has a producer of its own: with the configuration of
 * the application's producer, but it writes the stored JSON as it is, waits for all
 * in-sync replicas, and takes part in no transaction.
 * <p>
 * <strong>Threads.</strong> Created and closed by the application context.
 */
public final class KafkaForwarderFactory implements ForwarderFactory, AutoCloseable {

    private static final String SEPARATOR = "::";

    private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]{1,249}");

    /** Bounds the time for which a send blocks its thread without metadata. */
    private static final Duration MAX_BLOCK = Duration.ofSeconds(5);

    /** Keeps the client from logging a failed connection every second. */
    private static final Duration MAX_RECONNECT = Duration.ofSeconds(5);

    /** The most with which an idempotent producer keeps the order of a partition. */
    private static final int MAX_IN_FLIGHT = 5;

    private static final int CLOSE_SECONDS = 5;

    private final ProducerFactory<?, ?> application;

    private final EnvelopeCodec codec;

    private final List<DefaultKafkaProducerFactory<?, ?>> producers = new ArrayList<>();

    /**
     * Creates a factory.
     * @param application has the configuration of the application's producer, and the
     * listeners that get to know each producer
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
        if (!TOPIC.matcher(topic).matches()) {
            throw new IllegalArgumentException(
                    "'%s' is no name of a topic: use 1 to 249 characters of A-Z, a-z, 0-9, '.', '_' and '-'"
                        .formatted(topic));
        }
        MessageKey key = (end >= 0) ? MessageKey.expression(destination.substring(end + SEPARATOR.length()), this.codec)
                : MessageKey.OF_GROUP_OR_ID;
        DefaultKafkaProducerFactory<byte[], byte[]> factory = producers(options);
        KafkaTemplate<byte[], byte[]> template = new KafkaTemplate<>(factory);
        // The default one logs the payload of each message that fails.
        template.setProducerListener(new ProducerListener<>() {
        });
        return new KafkaForwarder(template, factory::reset, topic, key);
    }

    private synchronized DefaultKafkaProducerFactory<byte[], byte[]> producers(Options options) {
        DefaultKafkaProducerFactory<byte[], byte[]> factory = new DefaultKafkaProducerFactory<>(
                configuration(this.application.getConfigurationProperties(), options), new ByteArraySerializer(),
                new ByteArraySerializer());
        factory.setBeanName(name(options));
        factory.setPhysicalCloseTimeout(CLOSE_SECONDS);
        addListeners(factory);
        this.producers.add(factory);
        try {
            // Checks the configuration; does not wait for a connection.
            factory.createProducer();
        }
        catch (KafkaException ex) {
            if (!isUnresolved(ex)) {
                throw new IllegalArgumentException(
                        "its producer cannot be created: %s".formatted(rootCause(ex).getMessage()), ex);
            }
        }
        return factory;
    }

    /** The listeners see the producer only, whatever its types are. */
    @SuppressWarnings({ "unchecked", "rawtypes" })
    private void addListeners(DefaultKafkaProducerFactory<byte[], byte[]> factory) {
        this.application.getListeners().forEach((listener) -> factory.addListener((ProducerFactory.Listener) listener));
    }

    /** Returns whether no name of a broker can be resolved, which may be so for now. */
    public static boolean isUnresolved(KafkaException failure) {
        String message = rootCause(failure).getMessage();
        return message != null && message.startsWith("No resolvable bootstrap urls");
    }

    private static Throwable rootCause(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    private static String name(Options options) {
        return "delayqueue-forward-" + options.queue();
    }

    /** Returns the configuration of a producer, from that of the application. */
    static Map<String, Object> configuration(Map<String, Object> application, Options options) {
        Map<String, Object> own = new HashMap<>(application);
        own.remove(ProducerConfig.TRANSACTIONAL_ID_CONFIG);
        own.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        own.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        own.put(ProducerConfig.ACKS_CONFIG, "all");
        own.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
        own.remove(ProducerConfig.RETRIES_CONFIG);
        own.computeIfPresent(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, (name, value) -> inFlight(value));
        own.merge(ProducerConfig.CLIENT_ID_CONFIG, name(options), (given, suffix) -> given + "-" + suffix);
        own.putIfAbsent(ProducerConfig.MAX_BLOCK_MS_CONFIG, (int) MAX_BLOCK.toMillis());
        own.putIfAbsent(ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, (int) MAX_RECONNECT.toMillis());
        if (!own.containsKey(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG)
                && !own.containsKey(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG)) {
            int millis = (int) Math.max(100, options.timeout().toMillis());
            own.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, millis / 2);
            // The client rejects a value below the sum of the others.
            own.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
                    (int) Math.min(Integer.MAX_VALUE, Math.max(millis, millis / 2 + lingerMillis(own))));
        }
        return own;
    }

    /** Returns zero for a value that is no number, which the client rejects. */
    private static long lingerMillis(Map<String, Object> configuration) {
        try {
            return Long.parseLong(String.valueOf(configuration.getOrDefault(ProducerConfig.LINGER_MS_CONFIG, 0)));
        }
        catch (NumberFormatException ex) {
            return 0;
        }
    }

    /** Leaves a value that is no number for the client to reject. */
    private static @Nullable Object inFlight(Object configured) {
        try {
            return Math.min(MAX_IN_FLIGHT, Integer.parseInt(configured.toString()));
        }
        catch (NumberFormatException ex) {
            return configured;
        }
    }

    /** Closes the producers. */
    @Override
    public synchronized void close() {
        this.producers.forEach(DefaultKafkaProducerFactory::destroy);
        this.producers.clear();
    }

}
