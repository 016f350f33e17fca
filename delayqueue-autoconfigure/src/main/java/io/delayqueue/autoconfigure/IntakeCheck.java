package io.delayqueue.autoconfigure;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;

/**
 * Checks the settings of intake: each has a valid queue, and no message that is scheduled
 * is forwarded to where it came from, directly or through other queues.
 */
final class IntakeCheck {

    private static final String KAFKA = "kafka:";

    private static final String RABBIT = "rabbit:/";

    /** The queue of each source, which is written like a target. */
    private final Map<String, String> queues = new HashMap<>();

    private final Map<String, ForwardSettings> forwards;

    IntakeCheck(DelayQueueProperties properties) {
        this.forwards = properties.forward();
        properties.intake()
            .kafka()
            .forEach((topic, settings) -> this.queues.put(KAFKA + topic,
                    queue("kafka", topic, settings.to(), settings.concurrency())));
        properties.intake()
            .rabbit()
            .forEach((queue, settings) -> this.queues.put(RABBIT + queue,
                    queue("rabbit", queue, settings.to(), settings.concurrency())));
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

    /**
     * Rejects loops.
     * @throws InvalidBrokerSettingException if a source is also reached by a forward of
     * its own messages
     */
    void run() {
        this.queues.forEach(this::follow);
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
