package io.delayqueue.intake;

import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Pattern;

import io.delayqueue.DelayQueueHeaders;
import io.delayqueue.DelayedMessage;
import io.delayqueue.MessageLimits;
import io.delayqueue.QueueName;
import io.delayqueue.forward.BrokerHeaders;
import io.delayqueue.store.Texts;
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

    private static final Pattern QUOTED = Pattern.compile("^\"(.*)\"$");

    private static final int MAX_QUOTED = 80;

    private final QueueName queue;

    private final EnvelopeCodec codec;

    IntakeReader(QueueName queue, EnvelopeCodec codec) {
        this.queue = queue;
        this.codec = codec;
    }

    /**
     * Converts a message.
     * @throws InvalidIntakeException if it has no due time and no delay, it was
     * forwarded, or a header or the payload is not valid
     */
    DelayedMessage read(IntakeMessage message) {
        IntakeHeaders headers = message.headers();
        check(headers);
        try {
            DelayedMessage.Builder builder = DelayedMessage.builder(this.queue.value(), payload(message.payload()))
                .afterCommit(false);
            addTime(builder, headers);
            String id = headers.text(BrokerHeaders.ID);
            builder.id((id != null) ? id : message.id());
            addOptions(builder, headers);
            addHeaders(builder, headers, message.key());
            return builder.build();
        }
        catch (IllegalArgumentException ex) {
            throw new InvalidIntakeException(String.valueOf(ex.getMessage()));
        }
    }

    private static void check(IntakeHeaders headers) {
        if (headers.text(BrokerHeaders.ATTEMPT) != null) {
            String queue = headers.text(BrokerHeaders.QUEUE);
            throw new InvalidIntakeException(("it was forwarded from queue '%s', so scheduling it could forward it "
                    + "again without end; a new message must not copy the header '%s'")
                .formatted((queue != null) ? quoted(queue) : "unknown", BrokerHeaders.ATTEMPT));
        }
        headers.binaries().keySet().stream().filter((name) -> name.startsWith(BrokerHeaders.PREFIX)).forEach((name) -> {
            throw new InvalidIntakeException("header '%s' is not a text in UTF-8".formatted(quoted(name)));
        });
        if (headers.text(BrokerHeaders.DUE) == null && headers.text(BrokerHeaders.DELAY) == null) {
            throw new InvalidIntakeException(
                    "it has no header '%s' or '%s'".formatted(BrokerHeaders.DUE, BrokerHeaders.DELAY));
        }
    }

    private static String quoted(String value) {
        return Texts.line(value, MAX_QUOTED);
    }

    private static void addTime(DelayedMessage.Builder builder, IntakeHeaders headers) {
        String due = headers.text(BrokerHeaders.DUE);
        String delay = headers.text(BrokerHeaders.DELAY);
        if (due != null) {
            builder.dueAt(time(BrokerHeaders.DUE, due, Instant::parse, Instant::ofEpochMilli));
        }
        if (delay != null) {
            builder.delay(time(BrokerHeaders.DELAY, delay, Duration::parse, Duration::ofMillis));
        }
    }

    /** Reads a time, which Spring's header mappers write in JSON, and so in quotes. */
    private static <T> T time(String header, String value, Function<String, T> text, Function<Long, T> millis) {
        String time = QUOTED.matcher(value).replaceFirst("$1");
        try {
            return time.matches("\\d{1,18}") ? millis.apply(Long.parseLong(time)) : text.apply(time);
        }
        catch (DateTimeException ex) {
            throw new InvalidIntakeException("header '%s' must be in ISO 8601 or in milliseconds, but was '%s'"
                .formatted(header, quoted(value)));
        }
    }

    private static void addOptions(DelayedMessage.Builder builder, IntakeHeaders headers) {
        String group = headers.text(BrokerHeaders.GROUP);
        if (group != null) {
            builder.group(group);
        }
        String priority = headers.text(BrokerHeaders.PRIORITY);
        if (priority != null) {
            if (!priority.matches("\\d{1,2}")) {
                throw new InvalidIntakeException(
                        "header '%s' must be %d to %d, but was '%s'".formatted(BrokerHeaders.PRIORITY,
                                MessageLimits.MIN_PRIORITY, MessageLimits.MAX_PRIORITY, quoted(priority)));
            }
            builder.priority(Integer.parseInt(priority));
        }
    }

    private static void addHeaders(DelayedMessage.Builder builder, IntakeHeaders headers, byte @Nullable [] key) {
        headers.texts().forEach((name, value) -> {
            if (isStored(name)) {
                builder.header(name, value);
            }
        });
        headers.binaries().forEach((name, value) -> {
            if (isStored(name)) {
                builder.header(BrokerHeaders.BINARY + name, Base64.getEncoder().encodeToString(value));
            }
        });
        String text = (key != null) ? StrictUtf8.decode(key) : null;
        if (text != null) {
            builder.header(BrokerHeaders.KEY, text);
        }
        else if (key != null) {
            builder.header(BrokerHeaders.BINARY + BrokerHeaders.KEY, Base64.getEncoder().encodeToString(key));
        }
    }

    private static boolean isStored(String header) {
        return !header.startsWith(BrokerHeaders.PREFIX) && !header.startsWith(DelayQueueHeaders.PREFIX)
                && !RESERVED.contains(header);
    }

    /**
     * Returns the payload as it is. It is checked in its stored form, in which content
     * that is no single JSON value would change the envelope.
     */
    private RawValue payload(byte[] content) {
        String text = StrictUtf8.decode(content);
        if (text != null) {
            RawValue payload = new RawValue(text.strip());
            try {
                byte[] stored = this.codec.read(this.codec.write(payload, Map.of())).payload();
                if (Arrays.equals(stored, text.strip().getBytes(StandardCharsets.UTF_8))) {
                    return payload;
                }
            }
            catch (RuntimeException ex) {
                // Its message may quote the payload.
            }
        }
        throw new InvalidIntakeException("its payload is not a JSON value in UTF-8");
    }

    /** Returns an id for a name, which is the same whenever the message is read. */
    static String idOf(String name) {
        return isId(name) ? name : UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)).toString();
    }

    private static boolean isId(String name) {
        try {
            return !MessageLimits.requireId(name).startsWith(MessageLimits.RESERVED_PREFIX);
        }
        catch (IllegalArgumentException ex) {
            return false;
        }
    }

}
