package io.delayqueue.redis;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.MessageLimits;
import io.delayqueue.redis.script.ScriptCodec;
import io.delayqueue.store.NewMessage;
import org.jspecify.annotations.Nullable;

/**
 * Decodes and encodes the content of a dead letter; {@code add_dead_letter} in
 * prelude-settlements.lua defines its form.
 *
 * @param deadLetteredAt when it became a dead letter, ms
 * @param due when its last attempt was due, ms
 * @param failures of its handler
 * @param lapses of its leases
 * @param life its time to live in ms and its lane
 * @param groupOrEmpty its group; empty for none
 * @param cause why it was dead-lettered
 * @param firstFailure its first failure, empty for none
 * @param stamped stamp and envelope, empty if its content was missing
 */
public record DeadLetterContent(long deadLetteredAt, long due, int failures, int lapses, Life life, String groupOrEmpty,
        String cause, String firstFailure, byte[] stamped) {

    /** Stands for content that no script wrote; such a dead letter can be purged. */
    public static final DeadLetterContent UNREADABLE = new DeadLetterContent(0, 0, 0, 0,
            new Life(0, MessageLimits.NORMAL_PRIORITY), "", "The dead letter is not readable", "", new byte[0]);

    private static final Pattern HEADER = Pattern
        .compile("(-?\\d{1,16}):(-?\\w+):(\\d+):(\\d+):(-?\\d+):(\\d)(?:\\+(\\d{1,9}))?:(\\d{1,9}):(\\d{1,9}):");

    private static final Pattern NUMBER = Pattern.compile("-?(?:\\d+|inf)");

    /** Longer than any header that a script wrote. */
    private static final int MAX_HEADER_LENGTH = 300;

    public static DeadLetterContent parse(byte[] content) {
        Matcher header = HEADER
            .matcher(new String(content, 0, Math.min(content.length, MAX_HEADER_LENGTH), StandardCharsets.ISO_8859_1));
        if (!header.lookingAt() || !NUMBER.matcher(header.group(2)).matches()) {
            return UNREADABLE;
        }
        int start = header.end();
        String groupLength = header.group(7);
        long groupEnd = start + ((groupLength != null) ? Long.parseLong(groupLength) : 0);
        long causeEnd = groupEnd + Long.parseLong(header.group(8));
        long firstEnd = causeEnd + Long.parseLong(header.group(9));
        if (firstEnd > content.length) {
            return UNREADABLE;
        }
        return new DeadLetterContent(Long.parseLong(header.group(1)),
                ScriptCodec.ceil(ScriptCodec.bytes(header.group(2))), ScriptCodec.count(header.group(3)),
                ScriptCodec.count(header.group(4)), Life.of(header.group(5), header.group(6)),
                ScriptCodec.name(Arrays.copyOfRange(content, start, (int) groupEnd)),
                text(content, (int) groupEnd, (int) causeEnd), text(content, (int) causeEnd, (int) firstEnd),
                Arrays.copyOfRange(content, (int) firstEnd, content.length));
    }

    /**
     * Returns the first line of the cause, of which at least the beginning is in the
     * given bytes; the one of {@link #UNREADABLE} if they do not have the form.
     */
    static String causeLine(byte[] beginning) {
        Matcher header = HEADER.matcher(
                new String(beginning, 0, Math.min(beginning.length, MAX_HEADER_LENGTH), StandardCharsets.ISO_8859_1));
        if (!header.lookingAt()) {
            return UNREADABLE.cause();
        }
        String groupLength = header.group(7);
        long start = header.end() + ((groupLength != null) ? Long.parseLong(groupLength) : 0);
        long end = start + Long.parseLong(header.group(8));
        if (start > beginning.length) {
            return UNREADABLE.cause();
        }
        return text(beginning, (int) start, (int) Math.min(end, beginning.length)).lines().findFirst().orElse("");
    }

    /**
     * Returns the content of a message that was never stored.
     * @param now the time, ms
     * @param stamped its stamp and envelope
     */
    static DeadLetterContent of(NewMessage message, String cause, long now, byte[] stamped) {
        long due = message.due().relative() ? now + message.due().millis() : message.due().millis();
        Duration timeToLive = message.timeToLive();
        String group = message.group();
        return new DeadLetterContent(now, due, 0, 0,
                new Life((timeToLive != null) ? timeToLive.toMillis() : 0, message.priority()),
                (group != null) ? group : "", cause, "", stamped);
    }

    /** Returns the content in the form that {@link #parse} reads. */
    byte[] toBytes() {
        byte[] group = ScriptCodec.bytesOfName(this.groupOrEmpty);
        byte[] reason = this.cause.getBytes(StandardCharsets.UTF_8);
        byte[] first = this.firstFailure.getBytes(StandardCharsets.UTF_8);
        String lane = this.life.lane() + ((group.length > 0) ? "+" + group.length : "");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(ScriptCodec.bytes("%d:%d:%d:%d:%d:%s:%d:%d:".formatted(this.deadLetteredAt, this.due,
                this.failures, this.lapses, this.life.millis(), lane, reason.length, first.length)));
        for (byte[] part : List.of(group, reason, first, this.stamped)) {
            bytes.writeBytes(part);
        }
        return bytes.toByteArray();
    }

    private static String text(byte[] content, int start, int end) {
        return new String(content, start, end - start, StandardCharsets.UTF_8);
    }

    @Nullable String group() {
        return this.groupOrEmpty.isEmpty() ? null : this.groupOrEmpty;
    }

    @Nullable String firstFailureOrNull() {
        return (this.firstFailure.isEmpty() || this.firstFailure.equals(this.cause)) ? null : this.firstFailure;
    }

    /** Returns its message, to be sent again. */
    public NewMessage toMessage(String deadLetterId) {
        Duration timeToLive = (this.life.millis() != 0) ? Duration.ofMillis(this.life.millis()) : null;
        return NewMessage.of(deadLetterId, this.life.lane(), timeToLive, group(), ScriptCodec.envelopeOf(this.stamped));
    }

    /**
     * Holds the settings with which its message is sent again.
     *
     * @param millis its time to live; 0 for none
     * @param lane its lane
     */
    record Life(long millis, int lane) {

        /**
         * Parses the settings; an expiry before the due time, which no sender can set,
         * becomes the shortest time to live.
         */
        static Life of(String millis, String lane) {
            return new Life(millis.startsWith("-") ? 1 : ScriptCodec.millis(millis), Integer.parseInt(lane));
        }

    }

}
