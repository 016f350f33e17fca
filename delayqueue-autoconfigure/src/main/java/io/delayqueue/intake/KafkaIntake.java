package io.delayqueue.intake;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.Nullable;

import org.springframework.context.SmartLifecycle;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.listener.BatchAcknowledgingMessageListener;
import org.springframework.kafka.listener.ConcurrentMessageListenerContainer;
import org.springframework.kafka.listener.ContainerProperties;
import org.springframework.kafka.support.Acknowledgment;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Schedules the delayed records of a topic of Kafka. The offset of a record is committed
 * after the message is stored. A record that is read again has the same id, so it is
 * stored once while the queue holds it. Records without a header for a delay, and invalid
 * ones, are skipped.
 * <p>
 * <strong>Threads.</strong> The consumer threads of the container schedule.
 */
public final class KafkaIntake implements SmartLifecycle {

    private static final String RECONNECT_MILLIS = "5000";

    private final IntakeScheduler scheduler;

    private final ConcurrentMessageListenerContainer<String, byte[]> container;

    /**
     * Creates an intake.
     * @param application has the configuration of the application's consumers
     * @param groupId the consumer group
     * @param concurrency number of consumers in this process
     */
    public KafkaIntake(ConsumerFactory<?, ?> application, String topic, String groupId, int concurrency,
            IntakeScheduler scheduler) {
        this.scheduler = scheduler;
        ContainerProperties properties = new ContainerProperties(topic);
        properties.setGroupId(groupId);
        properties.setAckMode(ContainerProperties.AckMode.MANUAL);
        properties.setMessageListener((BatchAcknowledgingMessageListener<String, byte[]>) this::schedule);
        this.container = new ConcurrentMessageListenerContainer<>(
                new DefaultKafkaConsumerFactory<>(configuration(application.getConfigurationProperties()),
                        new StringDeserializer(), new ByteArrayDeserializer()),
                properties);
        this.container.setConcurrency(concurrency);
        this.container.setBeanName("delayqueue-intake-" + topic);
    }

    private static Map<String, Object> configuration(Map<String, Object> application) {
        Map<String, Object> own = new HashMap<>(application);
        own.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        own.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, StringDeserializer.class);
        own.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        own.putIfAbsent(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        own.putIfAbsent(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        own.putIfAbsent(ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, RECONNECT_MILLIS);
        return own;
    }

    private void schedule(List<ConsumerRecord<String, byte[]>> records, @Nullable Acknowledgment acknowledgment) {
        for (int i = 0; i < records.size(); i++) {
            if (this.scheduler.schedule(convert(records.get(i))) == IntakeScheduler.Result.UNAVAILABLE) {
                // Commits the records before, and reads this one again after the wait.
                if (acknowledgment != null) {
                    acknowledgment.nack(i, this.scheduler.untilRetry());
                }
                return;
            }
        }
        if (acknowledgment != null) {
            acknowledgment.acknowledge();
        }
    }

    private static IntakeMessage convert(ConsumerRecord<String, byte[]> record) {
        Map<String, String> headers = new HashMap<>();
        for (Header header : record.headers()) {
            if (header.value() != null) {
                headers.put(header.key(), new String(header.value(), UTF_8));
            }
        }
        byte[] payload = record.value();
        return new IntakeMessage(
                "offset %d of partition %d of topic '%s'".formatted(record.offset(), record.partition(),
                        record.topic()),
                IntakeReader.idOf("%s-%d-%d".formatted(record.topic(), record.partition(), record.offset())),
                record.key(), headers, (payload != null) ? payload : new byte[0]);
    }

    @Override
    public void start() {
        this.container.start();
    }

    @Override
    public void stop() {
        this.container.stop();
    }

    @Override
    public void stop(Runnable callback) {
        this.container.stop(callback);
    }

    @Override
    public boolean isRunning() {
        return this.container.isRunning();
    }

    @Override
    public int getPhase() {
        return this.container.getPhase();
    }

}
