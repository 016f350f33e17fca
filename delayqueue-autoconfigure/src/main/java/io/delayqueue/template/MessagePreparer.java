package io.delayqueue.template;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.delayqueue.DelayedMessage;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.PayloadTooLargeException;
import io.delayqueue.QueueName;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.envelope.EnvelopeCodec;

/**
 * Prepares messages for the store: assigns an id where there is none, converts payload
 * and headers to the stored form, and rejects messages that are too large or sent to a
 * queue that is not allowed. Thread-safe.
 */
final class MessagePreparer {

    private final MessageIdGenerator ids = new MessageIdGenerator();

    private final EnvelopeCodec codec;

    private final int maxPayloadSize;

    private final Consumer<QueueName> admission;

    MessagePreparer(EnvelopeCodec codec, TemplateSettings settings) {
        this.codec = codec;
        this.maxPayloadSize = settings.maxPayloadSize();
        this.admission = settings.admission();
    }

    /** Prepares the messages of one call. Exceptions state which one is rejected. */
    List<PreparedMessage> prepareAll(Collection<DelayedMessage> messages) {
        Supplier<String> generated = this.ids.batch(messages.size());
        List<PreparedMessage> prepared = new ArrayList<>(messages.size());
        try {
            for (DelayedMessage message : messages) {
                prepared.add(prepare(message, generated));
            }
        }
        catch (PayloadTooLargeException ex) {
            throw new PayloadTooLargeException(numbered(ex, prepared.size(), messages.size()));
        }
        catch (PayloadConversionException ex) {
            throw new PayloadConversionException(numbered(ex, prepared.size(), messages.size()), ex.getCause());
        }
        return prepared;
    }

    private static String numbered(RuntimeException rejection, int before, int all) {
        String reason = String.valueOf(rejection.getMessage());
        return (all == 1) ? reason : "Message %d of %d: %s".formatted(before + 1, all, reason);
    }

    PreparedMessage prepare(DelayedMessage message) {
        return prepare(message, this.ids::next);
    }

    private PreparedMessage prepare(DelayedMessage message, Supplier<String> ids) {
        this.admission.accept(message.queue());
        byte[] envelope = this.codec.write(message.payload(), message.headers());
        if (envelope.length > this.maxPayloadSize) {
            throw new PayloadTooLargeException(
                    "Payload of %s for queue '%s' is too large: written with its headers it has %d bytes, and %s is %d"
                        .formatted(message.payload().getClass().getName(), message.queue(), envelope.length,
                                TemplateSettings.MAX_PAYLOAD_SIZE, this.maxPayloadSize));
        }
        boolean generated = message.id().isEmpty();
        Duration timeToLive = message.timeToLive().map(MessagePreparer::wholeMillis).orElse(null);
        return new PreparedMessage(message,
                new NewMessage(generated ? ids.get() : message.id().get(), generated, due(message),
                        message.onDuplicate(), message.priority(), timeToLive, message.group().orElse(null), envelope)
                    .withDuplicateWindow(message.duplicateWindow().orElse(null)));
    }

    private static DueTime due(DelayedMessage message) {
        if (message.dueAt().isPresent()) {
            return DueTime.at(message.dueAt().get());
        }
        return message.delay().map(DueTime::after).orElse(DueTime.NOW);
    }

    /** Rounds a time span up to whole milliseconds, as the store requires. */
    static Duration wholeMillis(Duration span) {
        return Duration.ofMillis(DueTime.ceilToMillis(span));
    }

}
