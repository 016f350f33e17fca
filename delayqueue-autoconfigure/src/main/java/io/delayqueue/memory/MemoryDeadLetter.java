package io.delayqueue.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;

import io.delayqueue.DeadLetter;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.envelope.Envelope;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;

/**
 * A dead letter. Times are in milliseconds.
 *
 * @param timeToLive how long its message might live, 0 for ever
 */
record MemoryDeadLetter(String letterId, String id, long died, long due, int failures, int lapses, long timeToLive,
        int lane, @Nullable String group, String cause, String firstFailure, byte[] envelope) {

    /** The longest dead first. */
    static final Comparator<MemoryDeadLetter> BY_DEATH = Comparator.comparingLong(MemoryDeadLetter::died)
        .thenComparing(MemoryDeadLetter::letterId);

    DeadLetter toDeadLetter(String queue, EnvelopeCodec codec) {
        Envelope content = readOrNull(codec);
        boolean repeated = this.firstFailure.isEmpty() || this.firstFailure.equals(this.cause);
        return new DeadLetter(queue, this.letterId, this.id, this.group, Instant.ofEpochMilli(this.due),
                Instant.ofEpochMilli(this.died), this.failures, this.lapses, this.cause,
                repeated ? null : this.firstFailure, (content != null) ? EnvelopeCodec.text(content) : null,
                (content != null) ? content.headers() : Map.of());
    }

    /** Its message, to be sent again. */
    NewMessage toMessage() {
        return NewMessage.of(this.letterId, this.lane,
                (this.timeToLive != MemoryMessage.NONE) ? Duration.ofMillis(this.timeToLive) : null, this.group,
                this.envelope);
    }

    /** An unreadable message died of that; its letter is to be seen all the same. */
    private @Nullable Envelope readOrNull(EnvelopeCodec codec) {
        try {
            return codec.read(this.envelope);
        }
        catch (PayloadConversionException ex) {
            return null;
        }
    }

}
