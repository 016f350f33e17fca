package io.delayqueue.autoconfigure;

import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Holds the settings of intake, which schedules delayed messages of brokers.
 *
 * @param kafka Topics of Kafka whose delayed records are scheduled, by name.
 * @param rabbit Queues of RabbitMQ whose messages are scheduled, by name.
 */
public record IntakeSettings(@DefaultValue Map<String, Topic> kafka, @DefaultValue Map<String, Source> rabbit) {

    public IntakeSettings {
        kafka = Map.copyOf(kafka);
        rabbit = Map.copyOf(rabbit);
    }

    /**
     * Settings of one topic.
     *
     * @param to Queue in which the records are scheduled.
     * @param groupId Consumer group. Default: name of the application, namespace and
     * "delayqueue-intake", with hyphens between them.
     * @param concurrency Number of consumers in this process.
     */
    public record Topic(@Nullable String to, @Nullable String groupId, @DefaultValue("1") int concurrency) {
    }

    /**
     * Settings of one queue of RabbitMQ.
     *
     * @param to Queue in which the messages are scheduled.
     * @param concurrency Number of consumers in this process.
     * @param rejectInvalid Whether messages that cannot be scheduled are rejected, so
     * that the broker moves them to the dead-letter exchange of the queue, or drops them.
     * Otherwise the first one stops its consumer.
     */
    public record Source(@Nullable String to, @DefaultValue("1") int concurrency,
            @DefaultValue("false") boolean rejectInvalid) {
    }

}
