package io.delayqueue.store;

import java.nio.charset.StandardCharsets;

import org.jspecify.annotations.Nullable;

/**
 * Holds a change of a message that its journal is to record.
 *
 * @param entry the change
 * @param value of a failure its count and the next due time; of a dead letter its content
 * in the form of the store, empty if it is gone; else empty. Must not be changed
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record LedgerChange(LedgerEntry entry, byte[] value) {

    /** Returns a change without a value. */
    public static LedgerChange of(LedgerEntry entry) {
        return new LedgerChange(entry, new byte[0]);
    }

    /** Returns the change of a message that failed. */
    public static LedgerChange failed(LedgerEntry entry, int failures, @Nullable Long dueMillis) {
        return new LedgerChange(entry,
                (failures + " " + ((dueMillis != null) ? dueMillis : "")).getBytes(StandardCharsets.US_ASCII));
    }

    /** Returns how often a message has failed. */
    public int failures() {
        return Integer.parseInt(text().substring(0, text().indexOf(' ')));
    }

    /**
     * Returns when a message that failed is due, in milliseconds since the epoch;
     * {@code null} if it is leased again.
     */
    public @Nullable Long dueMillis() {
        String due = text().substring(text().indexOf(' ') + 1);
        return due.isEmpty() ? null : Long.valueOf(due);
    }

    private String text() {
        return new String(this.value, StandardCharsets.US_ASCII);
    }

}
