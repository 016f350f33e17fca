package io.delayqueue.memory;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

import io.delayqueue.DeadLetter;
import io.delayqueue.store.DeadLetterCursor;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.envelope.Envelope;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;

/**
 * Holds a dead letter. Times are in milliseconds.
 *
 * @param timeToLive of its message, 0 for none
 */
record MemoryDeadLetter(String deadLetterId, String id, long deadLetteredMillis, long due, int failures, int lapses,
        long timeToLive, int lane, @Nullable String group, String cause, String firstFailure, byte[] envelope) {

    /** Orders dead letters by their time, the oldest first. */
    static final Comparator<MemoryDeadLetter> OLDEST_FIRST = Comparator
        .comparingLong(MemoryDeadLetter::deadLetteredMillis)
        .thenComparing(MemoryDeadLetter::deadLetterId);

    /** Returns the dead letter of a stored message; {@code now} is in microseconds. */
    static MemoryDeadLetter of(MemoryMessage message, String deadLetterId, DeadLetterRequest request, long now) {
        return new MemoryDeadLetter(deadLetterId, message.id, Micros.floorToMillis(now), request.dueAt().toEpochMilli(),
                message.failures + (request.failed() ? 1 : 0), message.lapses, message.timeToLive(), message.lane,
                message.group, request.cause(), message.firstFailure, message.envelope);
    }

    /** Returns the dead letter of a message that was never stored. */
    static MemoryDeadLetter of(NewMessage message, String deadLetterId, String cause, long now) {
        Duration timeToLive = message.timeToLive();
        return new MemoryDeadLetter(deadLetterId, message.id(), now,
                message.due().relative() ? now + message.due().millis() : message.due().millis(), 0, 0,
                (timeToLive != null) ? timeToLive.toMillis() : MemoryMessage.NONE, message.priority(), message.group(),
                cause, "", message.envelope());
    }

    /** Returns whether a page, the latest first, has it after the cursor. */
    boolean isBefore(DeadLetterCursor cursor) {
        return this.deadLetteredMillis < cursor.deadLetteredMillis()
                || (this.deadLetteredMillis == cursor.deadLetteredMillis()
                        && this.deadLetterId.compareTo(cursor.deadLetterId()) < 0);
    }

    DeadLetter toDeadLetter(String queue, EnvelopeCodec codec) {
        Envelope content = readOrNull(codec);
        boolean repeated = this.firstFailure.isEmpty() || this.firstFailure.equals(this.cause);
        return new DeadLetter(queue, this.deadLetterId, this.id, this.group, Instant.ofEpochMilli(this.due),
                Instant.ofEpochMilli(this.deadLetteredMillis), this.failures, this.lapses, this.cause,
                repeated ? null : this.firstFailure, (content != null) ? EnvelopeCodec.text(content) : null,
                (content != null) ? content.headers() : Map.of());
    }

    /** Returns all but its id, for {@link #of}. */
    byte[] toBytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeUTF(this.id);
            out.writeLong(this.deadLetteredMillis);
            out.writeLong(this.due);
            out.writeInt(this.failures);
            out.writeInt(this.lapses);
            out.writeLong(this.timeToLive);
            out.writeInt(this.lane);
            out.writeUTF((this.group != null) ? this.group : "");
            out.writeUTF(this.cause);
            out.writeUTF(this.firstFailure);
            out.write(this.envelope);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return bytes.toByteArray();
    }

    /** Returns a dead letter from {@link #toBytes}. */
    static MemoryDeadLetter of(String deadLetterId, byte[] content) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(content))) {
            String id = in.readUTF();
            long deadLetteredMillis = in.readLong();
            long due = in.readLong();
            int failures = in.readInt();
            int lapses = in.readInt();
            long timeToLive = in.readLong();
            int lane = in.readInt();
            String group = in.readUTF();
            return new MemoryDeadLetter(deadLetterId, id, deadLetteredMillis, due, failures, lapses, timeToLive, lane,
                    group.isEmpty() ? null : group, in.readUTF(), in.readUTF(), in.readAllBytes());
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
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

    /** Returns those after the cursor, the latest first. */
    static List<MemoryDeadLetter> page(Collection<MemoryDeadLetter> all, @Nullable DeadLetterCursor cursor, int limit) {
        return all.stream()
            .filter((deadLetter) -> cursor == null || deadLetter.isBefore(cursor))
            .sorted(OLDEST_FIRST.reversed())
            .limit(limit)
            .toList();
    }

}
