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
     * Adds a listener to the queue, and logs a warning if it is not the only one.
     * @throws IllegalArgumentException if another listener of the queue reads another
     * type
     */
    synchronized void join(QueueName queue, Reader reader) {
        List<Reader> others = this.readers.computeIfAbsent(queue, (name) -> new ArrayList<>());
        for (Reader other : others) {
            if (!other.agreesWith(reader)) {
                throw new IllegalArgumentException(
                        ("it reads messages of queue '%s' as %s, but method '%s' of bean '%s' reads them as %s. "
                                + "Each message goes to only one of the two: use one payload type, Object to accept "
                                + "any JSON, or a queue for each type")
                            .formatted(queue, reader.typeName(), other.method(), other.beanName(), other.typeName()));
            }
        }
        if (!others.isEmpty()) {
            Reader first = others.get(0);
            logger.warn(
                    "Methods '{}' (bean '{}') and '{}' (bean '{}') share the messages of queue '{}': each message is "
                            + "handled by only one of them",
                    first.method(), first.beanName(), reader.method(), reader.beanName(), queue);
        }
        others.add(reader);
    }

    /** Holds the payload type of a listener; {@code null} if it reads no payload. */
    record Reader(String beanName, String method, @Nullable Type type) {

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
