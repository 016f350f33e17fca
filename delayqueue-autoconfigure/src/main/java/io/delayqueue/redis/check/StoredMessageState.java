package io.delayqueue.redis.check;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.delayqueue.MessageLimits;
import io.delayqueue.redis.script.ScriptCodec;
import org.jspecify.annotations.Nullable;

import static io.delayqueue.redis.script.ScriptCodec.number;
import static io.delayqueue.redis.script.ScriptCodec.raw;

/**
 * Holds the entries of a message at one moment, as {@code inspect-messages.lua} returns
 * them; {@code null} for an absent entry. Texts are in the form of
 * {@link ScriptCodec#raw}, as names may be any bytes; {@link ScriptCodec#name} converts
 * them for display.
 *
 * @param now microseconds
 * @param member the member that was read, of a set or a hash
 * @param value its value there, or its score
 * @param id the message
 * @param stored whether it has an envelope
 * @param details its details; {@code null} if they are absent or cannot be read
 * @param deadline end of its lease, microseconds
 * @param head of its group
 * @param first of the messages that wait in its group
 * @param waitsInGroup whether it is one of them
 * @param waits its entries in lanes
 */
record StoredMessageState(long now, String member, byte[] value, String id, boolean stored, @Nullable Details details,
        @Nullable String successor, @Nullable String deadline, @Nullable String head, @Nullable String first,
        boolean waitsInGroup, List<LaneEntry> waits) {

    private static final int PLACES = 12;

    static StoredMessageState of(long now, List<?> reply) {
        List<LaneEntry> waits = new ArrayList<>();
        for (int i = PLACES; i < reply.size(); i += 2) {
            waits.add(new LaneEntry((int) number(reply.get(i)), raw(reply.get(i + 1))));
        }
        return new StoredMessageState(now, raw(reply.get(0)), (byte[]) reply.get(1), raw(reply.get(2)),
                number(reply.get(3)) == 1, Details.parse(rawOrNull(reply.get(4))), rawOrNull(reply.get(7)),
                rawOrNull(reply.get(8)), rawOrNull(reply.get(9)), rawOrNull(reply.get(10)), number(reply.get(11)) == 1,
                List.copyOf(waits));
    }

    private static @Nullable String rawOrNull(@Nullable Object value) {
        return (value != null) ? raw(value) : null;
    }

    /** Returns the number of its entries; one is right. */
    int places() {
        return this.waits.size() + ((this.deadline != null) ? 1 : 0) + (this.waitsInGroup ? 1 : 0);
    }

    boolean isLeased() {
        return this.deadline != null;
    }

    boolean isHead() {
        return this.id.equals(this.head);
    }

    /** Returns the lane that its details name; without them that of most messages. */
    int lane() {
        return (this.details != null) ? this.details.lane() : MessageLimits.NORMAL_PRIORITY;
    }

    @Nullable String group() {
        return (this.details != null) ? this.details.group() : null;
    }

    /**
     * Holds an entry in a lane.
     *
     * @param lane the priority
     * @param score the due time, ms, as Redis writes it
     */
    record LaneEntry(int lane, String score) {
    }

    /**
     * Holds the details of a message that is not plain.
     *
     * @param due digits of the due time, ms
     * @param lane the priority
     * @param group {@code null} for none
     */
    record Details(String due, int lane, @Nullable String group) {

        private static final Pattern FORM = Pattern.compile("(\\d+):(\\d+):(\\d):?(.*)", Pattern.DOTALL);

        /** Returns {@code null} if they cannot be read. */
        static @Nullable Details parse(@Nullable String stored) {
            Matcher parts = FORM.matcher((stored != null) ? stored : "");
            return parts.matches() ? new Details(parts.group(1), Integer.parseInt(parts.group(3)),
                    parts.group(4).isEmpty() ? null : parts.group(4)) : null;
        }

    }

}
