package io.delayqueue.redis.script;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Holds a Lua script as it is sent to Redis.
 *
 * @param name its file without the ending, for messages
 * @param text the declarations that it uses, and the script; constant at run time
 * @param sha the digest by which Redis knows it
 */
public record RedisScript(String name, String text, String sha) {

    public static RedisScript of(String name, String text) {
        return new RedisScript(name, text, sha1(text));
    }

    private static String sha1(String text) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-1");
            return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
        }
        catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException("Every Java platform has SHA-1", ex);
        }
    }

}
