package io.delayqueue.redis;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.delayqueue.MessageLimits;
import org.jspecify.annotations.Nullable;

/** Turns what scripts take and answer into bytes and back. */
final class Replies {

    /** Length of what stands before the envelope in {@code messages}; see prelude.lua. */
    static final int STAMP = 8;

    private static final double MOST = (1L << 53) - 1;

    private Replies() {
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static byte[] bytes(long number) {
        return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
    }

    static String text(Object value) {
        return new String((byte[]) value, StandardCharsets.UTF_8);
    }

    static long number(Object value) {
        return (value instanceof Long number) ? number : Long.parseLong(text(value));
    }

    /**
     * A score, rounded up: {@code 2} from {@code 1.5}, which only another producer
     * writes.
     */
    static long ceil(Object score) {
        byte[] digits = (byte[]) score;
        long number = 0;
        for (byte digit : digits) {
            if (digit < '0' || digit > '9') {
                return ceil(text(score));
            }
            number = 10 * number + digit - '0';
        }
        return number;
    }

    /** As Redis writes it; not farther from now than a number that is exact. */
    private static long ceil(String score) {
        double value = score.endsWith("inf") ? MOST : Double.parseDouble(score);
        return (long) Math.ceil(Math.max(-MOST, Math.min(score.startsWith("-inf") ? -value : value, MOST)));
    }

    /** An instant from milliseconds, {@code null} from an empty text. */
    static @Nullable Instant instantOrNull(Object millis) {
        return (((byte[]) millis).length == 0) ? null : Instant.ofEpochMilli(number(millis));
    }

    static Instant ofMicros(long micros) {
        return Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1_000);
    }

    /** The answers 1 and 0 from {@code start} on. */
    static List<Boolean> flags(List<Object> reply, int start) {
        List<Boolean> flags = new ArrayList<>(reply.size());
        for (Object value : reply.subList(start, reply.size())) {
            flags.add(number(value) == 1);
        }
        return flags;
    }

    static byte[] envelopeOf(byte[] stamped) {
        return Arrays.copyOfRange(stamped, Math.min(STAMP, stamped.length), stamped.length);
    }

    /** Failures, lapses and suspicion, from an entry of {@code attempts} or nothing. */
    record Attempts(int failures, int lapses, boolean suspect) {

        static final Attempts NONE = new Attempts(0, 0, false);

        static Attempts of(Object entry) {
            if (((byte[]) entry).length == 0) {
                return NONE;
            }
            String[] fields = text(entry).split(":", 4);
            return new Attempts(Integer.parseInt(fields[0]), Integer.parseInt(fields[1]), !fields[2].equals("0"));
        }

    }

    /** Expiry, lane and group, from an entry of {@code details} or nothing. */
    record Details(@Nullable Instant expiresAt, int lane, @Nullable String group) {

        static final Details NONE = new Details(null, MessageLimits.NORMAL_PRIORITY, null);

        static Details of(Object entry) {
            if (((byte[]) entry).length == 0) {
                return NONE;
            }
            String[] fields = text(entry).split(":", 4);
            long expiry = Long.parseLong(fields[1]);
            return new Details((expiry == 0) ? null : Instant.ofEpochMilli(expiry), Integer.parseInt(fields[2]),
                    (fields.length > 3) ? fields[3] : null);
        }

    }

}
