package io.delayqueue.intake;

import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;

import io.delayqueue.DelayQueueHeaders;
import io.delayqueue.DelayedMessage;
import io.delayqueue.MessageLimits;
import io.delayqueue.QueueName;
import io.delayqueue.forward.BrokerHeaders;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.util.RawValue;

/**
 * Converts messages of a broker into messages of a queue. The payload is stored as it is,
 * and must be JSON in UTF-8. Stateless.
 */
final class IntakeReader {

    /** Headers of the sender that cannot be stored under their names. */
    private static final Set<String> RESERVED = Set.of("id", "timestamp", BrokerHeaders.CONTENT_TYPE);

    private final QueueName queue;

    private final EnvelopeCodec codec;

    IntakeReader(QueueName queue, EnvelopeCodec codec) {
        this.queue = queue;
        this.codec = codec;
    }

    /** Returns whether the message has a header that asks for a delay. */
    static boolean isDelayed(IntakeMessage message) {
        return message.headers().containsKey(BrokerHeaders.DUE) || message.headers().containsKey(BrokerHeaders.DELAY);
    }

    /**
     * Converts a message that asks for a delay.
     * @throws InvalidIntakeException if it was forwarded, or a header or the payload is
     * not valid
     */
    DelayedMessage read(IntakeMessage message) {
        Map<String, String> headers = message.headers();
        if (headers.containsKey(BrokerHeaders.ATTEMPT)) {
            throw new InvalidIntakeException(("it was forwarded from queue '%s', so scheduling it could forward it "
                    + "again without end; a new message must not copy the header '%s'")
                .formatted(headers.getOrDefault(BrokerHeaders.QUEUE, "unknown"), BrokerHeaders.ATTEMPT));
        }
        try {
            DelayedMessage.Builder builder = DelayedMessage.builder(this.queue.value(), payload(message.payload()))
                .afterCommit(false);
            addTime(builder, headers);
            String id = (headers.get(BrokerHeaders.ID) != null) ? headers.get(BrokerHeaders.ID) : message.id();
            if (id != null) {
                builder.id(id);
            }
            addOptions(builder, headers);
            addHeaders(builder, headers, message.key());
            return builder.build();
        }
        catch (IllegalArgumentException ex) {
            throw new InvalidIntakeException(String.valueOf(ex.getMessage()));
        }
    }

    private static void addTime(DelayedMessage.Builder builder, Map<String, String> headers) {
        String due = headers.get(BrokerHeaders.DUE);
        String delay = headers.get(BrokerHeaders.DELAY);
        if (due != null) {
            builder.dueAt(time(BrokerHeaders.DUE, due, Instant::parse, Instant::ofEpochMilli));
        }
        if (delay != null) {
            builder.delay(time(BrokerHeaders.DELAY, delay, Duration::parse, Duration::ofMillis));
        }
    }

    private static <T> T time(String header, String value, Function<String, T> text, Function<Long, T> millis) {
        try {
            return value.matches("\\d{1,18}") ? millis.apply(Long.parseLong(value)) : text.apply(value);
        }
        catch (DateTimeException ex) {
            throw new InvalidIntakeException(
                    "header '%s' must be in ISO 8601 or in milliseconds, but was '%s'".formatted(header, value));
        }
    }

    private static void addOptions(DelayedMessage.Builder builder, Map<String, String> headers) {
        String group = headers.get(BrokerHeaders.GROUP);
        if (group != null) {
            builder.group(group);
        }
        String priority = headers.get(BrokerHeaders.PRIORITY);
        if (priority != null) {
            if (!priority.matches("\\d{1,2}")) {
                throw new InvalidIntakeException("header '%s' must be %d to %d, but was '%s'".formatted(
                        BrokerHeaders.PRIORITY, MessageLimits.MIN_PRIORITY, MessageLimits.MAX_PRIORITY, priority));
            }
            builder.priority(Integer.parseInt(priority));
        }
    }

    private static void addHeaders(DelayedMessage.Builder builder, Map<String, String> headers, @Nullable String key) {
        headers.forEach((name, value) -> {
            if (!name.startsWith(BrokerHeaders.PREFIX) && !name.startsWith(DelayQueueHeaders.PREFIX)
                    && !RESERVED.contains(name)) {
                builder.header(name, value);
            }
        });
        if (key != null) {
            builder.header(BrokerHeaders.KEY, key);
        }
    }

    /**
     * Returns the payload as it is. It is checked in its stored form, in which content
     * that is no single JSON value would change the envelope.
     */
    private RawValue payload(byte[] content) {
        String text = new String(content, StandardCharsets.UTF_8);
        RawValue payload = new RawValue(text.strip());
        try {
            byte[] stored = this.codec.read(this.codec.write(payload, Map.of())).payload();
            if (Arrays.equals(stored, text.strip().getBytes(StandardCharsets.UTF_8))
                    && Arrays.equals(content, text.getBytes(StandardCharsets.UTF_8))) {
                return payload;
            }
        }
        catch (RuntimeException ex) {
            // Its message may quote the payload.
        }
        throw new InvalidIntakeException("its payload is not a JSON value in UTF-8");
    }

    /** Returns an id for a name, which is the same whenever the message is read. */
    static String idOf(String name) {
        try {
            return MessageLimits.requireId(name);
        }
        catch (IllegalArgumentException ex) {
            return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)).toString();
        }
    }

}
