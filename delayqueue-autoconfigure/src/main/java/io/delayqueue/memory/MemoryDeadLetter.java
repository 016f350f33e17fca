package io.delayqueue.memory;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;

import io.delayqueue.DeadLetter;
import io.delayqueue.store.DeadLetterCursor;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.envelope.Envelope;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;

/**
 * Holds a dead letter. Times are in milliseconds.
 *
 * @param timeToLive of its message, 0 for none
 */
record MemoryDeadLetter(String deadLetterId, String id, long died, long due, int failures, int lapses, long timeToLive,
        int lane, @Nullable String group, String cause, String firstFailure, byte[] envelope) {

    /** Orders dead letters by their time, the oldest first. */
    static final Comparator<MemoryDeadLetter> BY_DEATH = Comparator.comparingLong(MemoryDeadLetter::died)
        .thenComparing(MemoryDeadLetter::deadLetterId);

    /** Returns whether a page, the latest first, has it after the cursor. */
    boolean isBefore(DeadLetterCursor cursor) {
        return this.died < cursor.deadLetteredMillis()
                || (this.died == cursor.deadLetteredMillis() && this.deadLetterId.compareTo(cursor.deadLetterId()) < 0);
    }

    DeadLetter toDeadLetter(String queue, EnvelopeCodec codec) {
        Envelope content = readOrNull(codec);
        boolean repeated = this.firstFailure.isEmpty() || this.firstFailure.equals(this.cause);
        return new DeadLetter(queue, this.deadLetterId, this.id, this.group, Instant.ofEpochMilli(this.due),
                Instant.ofEpochMilli(this.died), this.failures, this.lapses, this.cause,
                repeated ? null : this.firstFailure, (content != null) ? EnvelopeCodec.text(content) : null,
                (content != null) ? content.headers() : Map.of());
    }

    /** Returns its message, to be sent again. */
    NewMessage toMessage() {
        return NewMessage.of(this.deadLetterId, this.lane,
                (this.timeToLive != MemoryMessage.NONE) ? Duration.ofMillis(this.timeToLive) : null, this.group,
                this.envelope);
    }

    /** Returns null for an unreadable message, whose dead letter must stay visible. */
    private @Nullable Envelope readOrNull(EnvelopeCodec codec) {
        try {
            return codec.read(this.envelope);
        }
        catch (RuntimeException | StackOverflowError | LinkageError ex) {
            // A codec of the application may throw anything.
            return null;
        }
    }

}
