package io.delayqueue.template;

import java.security.SecureRandom;
import java.util.Base64;

/**
 * Makes ids of 16 characters of base64url: 96 random bits, so that among ten billion
 * messages the chance of any two alike is about one in a billion.
 * <p>
 * They come from a {@link SecureRandom}. The store takes a generated id that it already
 * holds for the same send repeated, so two messages alike would be one message lost.
 * {@link java.util.concurrent.ThreadLocalRandom} is no choice: it walks a cycle of 64
 * bits from a seed made of two clocks, and processes started together may walk the same
 * part. Against a call to the store the microsecond does not count. Thread-safe.
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
