package io.delayqueue.template;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.function.Supplier;

/**
 * Generates ids of 16 base64url characters: 96 random bits, so that the probability of a
 * collision among ten billion messages is about one in a billion.
 * <p>
 * Uses {@link SecureRandom}. The store takes a generated id that it already holds for a
 * repetition of the same send, so a collision would lose a message.
 * {@link java.util.concurrent.ThreadLocalRandom} is not suitable: its 64-bit cycle starts
 * at a seed derived from two clocks, so that processes started together may generate the
 * same sequence. The extra microsecond is negligible compared with a call to the store.
 * The ids of a batch share that microsecond. No bits are kept from one call to the next,
 * as two processes that are restored from one image of memory would share them.
 * Thread-safe.
 */
final class MessageIdGenerator {

    private static final int BYTES = 12;

    /** Without padding, as three bytes become four characters. */
    private static final int CHARACTERS = 16;

    /** The most ids that are drawn at once. */
    private static final int BLOCK = 256;

    private final SecureRandom random = new SecureRandom();

    private final Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();

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
