package io.delayqueue.template;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Generates ids of 16 base64url characters. The first four are the time of the monotonic
 * clock in units of 17 ms, which repeats every three days, and with a restart of the
 * machine where that restarts the clock; the others are 72 random bits. The probability
 * of a collision among ten billion messages is about one in a billion if they are spread
 * evenly over the units, and among a million messages of one unit about one in ten
 * billion.
 * <p>
 * Because of the time, ids of one machine that were generated at about the same time are
 * near one another in the indexes of a database, so that the journal writes few pages of
 * them. The ids are in no order. An id reveals for how long the clock of its machine has
 * run, apart from whole cycles; its other bits cannot be guessed.
 * <p>
 * Uses {@link SecureRandom}. The store takes a generated id that it already holds for a
 * repetition of the same send, so a collision would lose a message.
 * {@link java.util.concurrent.ThreadLocalRandom} is not suitable: its 64-bit cycle starts
 * at a seed derived from two clocks, so that processes started together may generate the
 * same sequence. The extra microsecond is negligible compared with a call to the store.
 * The ids of a batch share that microsecond. No random bits are kept from one call to the
 * next, as two processes that are restored from one image of memory would share them.
 * Thread-safe.
 */
final class MessageIdGenerator {

    private static final int BYTES = 12;

    /** Without padding, as three bytes become four characters. */
    private static final int CHARACTERS = 16;

    /** A unit of the time is two to the power of this, in nanoseconds. */
    private static final int UNIT_BITS = 24;

    /** The most ids that are drawn at once. */
    private static final int BLOCK = 256;

    private final SecureRandom random = new SecureRandom();

    private final Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();

    private final LongSupplier nanoTime;

    MessageIdGenerator() {
        this(System::nanoTime);
    }

    /**
     * Creates a generator.
     * @param nanoTime the monotonic clock
     */
    MessageIdGenerator(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    String next() {
        return draw(1);
    }

    /**
     * Returns a supplier of ids for one call. Not thread-safe.
     * @param count how many ids are likely to be needed; more are available
     */
    Supplier<String> batch(int count) {
        return new Batch(Math.max(1, count));
    }

    /** Returns ids, one after the other. */
    private String draw(int count) {
        byte[] bits = new byte[count * BYTES];
        this.random.nextBytes(bits);
        long time = this.nanoTime.getAsLong() >> UNIT_BITS;
        for (int at = 0; at < bits.length; at += BYTES) {
            bits[at] = (byte) (time >> 16);
            bits[at + 1] = (byte) (time >> 8);
            bits[at + 2] = (byte) time;
        }
        return this.encoder.encodeToString(bits);
    }

    private final class Batch implements Supplier<String> {

        private int left;

        private String ids = "";

        private int at;

        Batch(int count) {
            this.left = count;
        }

        @Override
        public String get() {
            if (this.at == this.ids.length()) {
                int count = Math.max(1, Math.min(BLOCK, this.left));
                this.ids = draw(count);
                this.left -= count;
                this.at = 0;
            }
            String id = this.ids.substring(this.at, this.at + CHARACTERS);
            this.at += CHARACTERS;
            return id;
        }

    }

}
