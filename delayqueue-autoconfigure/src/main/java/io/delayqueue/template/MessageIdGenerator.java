package io.delayqueue.template;

import java.security.SecureRandom;
import java.util.Base64;

/**
 * Generates ids of 16 base64url characters: 96 random bits, so that the probability of a
 * collision among ten billion messages is about one in a billion.
 * <p>
 * Uses {@link SecureRandom}. The store takes a generated id that it already holds for a
 * repetition of the same send, so a collision would lose a message.
 * {@link java.util.concurrent.ThreadLocalRandom} is not suitable: its 64-bit cycle starts
 * at a seed derived from two clocks, so that processes started together may generate the
 * same sequence. The extra microsecond is negligible compared with a call to the store.
 * Thread-safe.
 */
final class MessageIdGenerator {

    private static final int BYTES = 12;

    private final SecureRandom random = new SecureRandom();

    private final Base64.Encoder encoder = Base64.getUrlEncoder().withoutPadding();

    String next() {
        byte[] bits = new byte[BYTES];
        this.random.nextBytes(bits);
        return this.encoder.encodeToString(bits);
    }

}
