package io.delayqueue.migrate.redis;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.util.Arrays;

import io.delayqueue.migrate.SourceEntry;
import org.jspecify.annotations.Nullable;

/**
 * Reads the members of a Redisson {@code RDelayedQueue}, which Redis packs in the byte
 * order of its machine. Up to 3.21.0 a member is a random number of 8 bytes, the length
 * of the value in 8 bytes, and the value ({@code dLc0}). Since 3.21.1 it is the length of
 * a random id in one byte, that id of 8 bytes, the length of the value in 8 bytes, and
 * the value ({@code Bc0Lc0}). A queue that is older than its application holds both.
 * <p>
 * The lengths distinguish the two: for both to be right, the value would have to be
 * empty.
 */
final class RedissonEntry {

    static final String LIST_ONLY = "it has no due time: it is in the list of Redisson only";

    private static final int OLD_HEAD = Double.BYTES + Long.BYTES;

    private RedissonEntry() {
    }

    /** Reads a member; an unreadable entry if it has neither form, or no due time. */
    static SourceEntry read(String id, @Nullable String score, byte[] member) {
        int start = valueStart(member);
        byte[] value = (start < 0) ? member : Arrays.copyOfRange(member, start, member.length);
        Instant dueAt = (score != null) ? RedisSource.instant(score) : null;
        if (start < 0) {
            return SourceEntry.unreadable(id, dueAt, value,
                    "it has neither the form of Redisson 3.21.1 and later " + "nor that of earlier versions");
        }
        return (dueAt != null) ? SourceEntry.of(id, dueAt, value) : SourceEntry.unreadable(id, null, value, LIST_ONLY);
    }

    private static int valueStart(byte[] member) {
        if (member.length > 0) {
            int head = 1 + (member[0] & 0xff) + Long.BYTES;
            if (hasLength(member, head)) {
                return head;
            }
        }
        return hasLength(member, OLD_HEAD) ? OLD_HEAD : -1;
    }

    /** Returns whether the bytes before {@code start} are the length of the rest. */
    private static boolean hasLength(byte[] member, int start) {
        if (member.length < start) {
            return false;
        }
        ByteBuffer length = ByteBuffer.wrap(member, start - Long.BYTES, Long.BYTES);
        long rest = member.length - start;
        return length.order(ByteOrder.LITTLE_ENDIAN).getLong(start - Long.BYTES) == rest
                || length.order(ByteOrder.BIG_ENDIAN).getLong(start - Long.BYTES) == rest;
    }

}
