package io.delayqueue.listener;

import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Checks that all listeners of a queue read the same payload type. Each message goes to
 * one of them, so a listener with another type would turn its share of the messages into
 * dead letters. A listener that reads any JSON, or no payload, is compatible with every
 * other.
 * <p>
 * <strong>Threads.</strong> Any.
 */
final class PayloadTypeAgreement {

    private static final Logger logger = LoggerFactory.getLogger(PayloadTypeAgreement.class);

    private final Map<QueueName, List<Reader>> readers = new HashMap<>();

    /**
     * Adds a listener to its queues, and logs a warning for each that has another one.
     * @throws IllegalArgumentException if another listener of a queue reads another type;
     * the listener is added to no queue then
     */
    synchronized void join(List<QueueName> queues, Reader reader) {
        queues.forEach((queue) -> check(queue, reader));
        for (QueueName queue : queues) {
            List<Reader> others = this.readers.computeIfAbsent(queue, (name) -> new ArrayList<>());
            if (!others.isEmpty()) {
                logger.warn("{} and {} share the messages of queue '{}': each message is handled by only one of them",
                        StringUtils.capitalize(others.get(0).name()), reader.name(), queue);
            }
            others.add(reader);
        }
    }

    private void check(QueueName queue, Reader reader) {
        for (Reader other : this.readers.getOrDefault(queue, List.of())) {
            if (!other.agreesWith(reader)) {
                throw new IllegalArgumentException(("it reads messages of queue '%s' as %s, but %s reads them as %s. "
                        + "Each message goes to only one of the two: use one payload type, Object to accept "
                        + "any JSON, or a queue for each type")
                    .formatted(queue, reader.typeName(), other.name(), other.typeName()));
            }
        }
    }

    /** Removes a listener from its queues. */
    synchronized void leave(List<QueueName> queues, Reader reader) {
        for (QueueName queue : queues) {
            this.readers.computeIfPresent(queue, (name, all) -> {
                all.removeIf((each) -> each == reader);
                return all.isEmpty() ? null : all;
            });
        }
    }

    /**
     * Holds the payload type of a listener.
     *
     * @param name names the listener in a sentence
     * @param type {@code null} if it reads no payload
     */
    record Reader(String name, @Nullable Type type) {

        private boolean agreesWith(Reader other) {
            return this.type == null || other.type == null || this.type == JsonNode.class
                    || other.type == JsonNode.class || comparable(this.type).equals(comparable(other.type));
        }

        /** Converts to text, as types from different libraries are not equal. */
        private static String comparable(Type type) {
            Type boxed = (type instanceof Class<?> declared) ? ClassUtils.resolvePrimitiveIfNecessary(declared) : type;
            return ResolvableType.forType(boxed).toString();
        }

        private String typeName() {
            return (this.type != null) ? this.type.getTypeName() : "any JSON";
        }

    }

}
