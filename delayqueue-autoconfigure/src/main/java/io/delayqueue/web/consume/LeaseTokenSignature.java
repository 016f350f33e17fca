package io.delayqueue.web.consume;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signs lease tokens with the secret of the namespace, and verifies them: HMAC-SHA256, of
 * which 128 bits are kept, over the namespace, the queue, the id and all fields of the
 * token. Immutable.
 */
final class LeaseTokenSignature {

    private static final String ALGORITHM = "HmacSHA256";

    private static final int MAC_BYTES = 16;

    private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

    private final SecretKeySpec key;

    private final String namespace;

    LeaseTokenSignature(byte[] secret, String namespace) {
        this.key = new SecretKeySpec(secret, ALGORITHM);
        this.namespace = namespace;
    }

    /** Writes a token as callers get it: its fields and their signature. */
    public String text(LeaseToken token) {
        byte[] fields = token.fields().getBytes(StandardCharsets.US_ASCII);
        return ENCODER.encodeToString(fields) + "." + ENCODER.encodeToString(mac(token));
    }

    /**
     * Whether a text is what {@link #text} writes for that token. Takes the same time
     * wherever it differs.
     */
    boolean isOf(LeaseToken token, String text) {
        return MessageDigest.isEqual(text(token).getBytes(StandardCharsets.UTF_8),
                text.getBytes(StandardCharsets.UTF_8));
    }

    /** No field but the last one, the id, may be of any length and hold any character. */
    private byte[] mac(LeaseToken token) {
        String signed = String.join("\n", "delayqueue lease", this.namespace, token.lease().queue().value(),
                token.fields(), token.lease().id());
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(this.key);
            return Arrays.copyOf(mac.doFinal(signed.getBytes(StandardCharsets.UTF_8)), MAC_BYTES);
        }
        catch (GeneralSecurityException ex) {
            throw new IllegalStateException("Every JVM has " + ALGORITHM, ex);
        }
    }

}
