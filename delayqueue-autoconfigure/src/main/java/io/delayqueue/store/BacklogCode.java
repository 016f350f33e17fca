package io.delayqueue.store;

/**
 * Converts a count to two bytes: 11 bits of the value below its highest bit, and 5 bits
 * for its size, so the error is at most 1 in 4,000. Smaller counts than 4,096 are exact.
 */
public final class BacklogCode {

    /** Code of a count that is not known. */
    public static final int UNKNOWN = 0;

    private static final int BITS = 11;

    private static final int HIDDEN = 1 << BITS;

    private static final int MAX = 0xFFFF;

    private BacklogCode() {
    }

    /** Returns the code of a count, 1 to 65,535. */
    public static int of(long count) {
        long value = Math.max(0, count);
        int shift = Math.max(0, Long.SIZE - Long.numberOfLeadingZeros(value) - BITS - 1);
        if (shift > 0) {
            value += 1L << (shift - 1);
            shift = Long.SIZE - Long.numberOfLeadingZeros(value) - BITS - 1;
        }
        long digits = value >> shift;
        long code = (digits < HIDDEN) ? digits : ((long) (shift + 1) << BITS) + digits - HIDDEN;
        return (int) Math.min(code + 1, MAX);
    }

    /** Returns the count of a code that is not {@link #UNKNOWN}. */
    public static long count(int code) {
        int size = (code - 1) >> BITS;
        long digits = (code - 1) & (HIDDEN - 1);
        return (size == 0) ? digits : (HIDDEN + digits) << (size - 1);
    }

}
