package io.delayqueue.autoconfigure;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Checks the settings of intake before any intake is created: each has a valid queue and
 * a consumer group, and no message that is scheduled is forwarded to where it came from,
 * directly or through other queues.
 */
final class IntakeCheck {

    private static final String KAFKA = "kafka:";

    private static final String RABBIT = "rabbit:/";

    /** The queue of each source, which is written like a target. */
    private final Map<String, String> queues = new HashMap<>();

    private final Map<String, ForwardSettings> forwards;

    private final String namespace;

    private final @Nullable String application;

    /**
     * Checks the settings.
     * @param application the name of the application; {@code null} if it has none
     * @throws InvalidBrokerSettingException if one is not possible, or a source is also
     * reached by a forward of its own messages
     */
    IntakeCheck(DelayQueueProperties properties, @Nullable String application) {
        this.forwards = properties.forward();
        this.namespace = properties.namespace();
        this.application = application;
        properties.intake().kafka().forEach((topic, settings) -> {
            this.queues.put(KAFKA + topic, queue("kafka", topic, settings.to(), settings.concurrency()));
            groupId(topic, settings);
        });
        properties.intake()
            .rabbit()
            .forEach((queue, settings) -> this.queues.put(RABBIT + queue,
                    queue("rabbit", queue, settings.to(), settings.concurrency())));
        this.queues.forEach(this::follow);
    }

    /**
     * Returns the consumer group for a topic. By default it is that of the application
     * and namespace: each other group gets all records too.
     */
    String groupId(String topic, IntakeSettings.Topic settings) {
        if (settings.groupId() != null && !settings.groupId().isBlank()) {
            return settings.groupId();
        }
        if (this.application == null || this.application.isBlank()) {
            throw new InvalidBrokerSettingException("delayqueue.intake.kafka.%s.group-id".formatted(topic), "",
                    "without spring.application.name, it must be set: applications with one group would share the "
                            + "records of the topic",
                    null);
        }
        return "%s-%s-delayqueue-intake".formatted(this.application, this.namespace);
    }

    private static String queue(String kind, String source, @Nullable String to, int concurrency) {
        String property = "delayqueue.intake.%s.%s.".formatted(kind, source);
        if (concurrency < 1) {
            throw new InvalidBrokerSettingException(property + "concurrency", Integer.toString(concurrency),
                    "it must be at least 1", null);
        }
        try {
            return new QueueName((to != null) ? to : "").value();
        }
        catch (IllegalArgumentException ex) {
            throw new InvalidBrokerSettingException(property + "to", (to != null) ? to : "",
                    String.valueOf(ex.getMessage()), ex);
        }
    }

    private void follow(String source, String firstQueue) {
        List<String> path = new ArrayList<>(List.of(source));
        String queue = firstQueue;
        while (queue != null && !path.contains(queue)) {
            path.add(queue);
            ForwardSettings forward = this.forwards.get(queue);
            String target = (forward != null && forward.to() != null) ? forward.to().split("::", 2)[0] : null;
            if (target == null) {
                return;
            }
            path.add(target);
            if (target.equals(source)) {
                throw new InvalidBrokerSettingException("delayqueue.forward.%s.to".formatted(queue), target,
                        "messages would be forwarded and scheduled without end: " + String.join(" -> ", path), null);
            }
            queue = this.queues.get(target);
        }
    }

}
