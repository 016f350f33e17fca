package io.delayqueue.redis.script;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A Lua script as it is sent to Redis.
 *
 * @param name its file without the ending, for messages
 * @param text what it uses of the prelude, and the script; never varies at run time
 * @param sha what Redis knows it by
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
