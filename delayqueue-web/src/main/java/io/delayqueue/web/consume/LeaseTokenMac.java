package io.delayqueue.web.consume;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signs and verifies lease tokens with the secret of the namespace: HMAC-SHA256,
 * truncated to 128 bits, over the namespace, the queue, the id and all fields of the
 * token. Immutable.
 */
final class LeaseTokenMac {

    private static final String ALGORITHM = "HmacSHA256";

    private static final int MAC_BYTES = 16;

    private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

    private final SecretKeySpec key;

    private final String namespace;

    LeaseTokenMac(byte[] secret, String namespace) {
        this.key = new SecretKeySpec(secret, ALGORITHM);
        this.namespace = namespace;
    }

    /** Returns a token as callers get it: its fields and their signature. */
    public String text(LeaseToken token) {
        byte[] fields = token.fields().getBytes(StandardCharsets.US_ASCII);
        return ENCODER.encodeToString(fields) + "." + ENCODER.encodeToString(mac(token));
    }

    /**
     * Returns whether a text is the signed form of a token. Compares in constant time.
     */
    boolean isOf(LeaseToken token, String text) {
        return MessageDigest.isEqual(text(token).getBytes(StandardCharsets.UTF_8),
                text.getBytes(StandardCharsets.UTF_8));
    }

    /** Joins the fields unambiguously: only the last one, the id, may hold any text. */
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
