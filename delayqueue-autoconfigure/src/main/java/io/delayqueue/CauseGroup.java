package io.delayqueue;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * Names the group of a dead letter's cause. Causes whose first lines differ only in
 * numbers, UUIDs and other identifiers with digits belong to the same group.
 * <pre class="code">
 * CauseGroup timeouts = CauseGroup.of(deadLetter.cause());
 * delayQueue.deadLetters("receipt").redrive(DeadLetterFilter.ALL.withCauseGroup(timeouts.key()), null);
 * </pre>
 *
 * @param key identifies the group, without its text: a letter and 16 hexadecimal digits
 * @param text the common text, with {@code #} for each identifier; may quote the payload,
 * except in a group of {@link #ofType}
 */
public record CauseGroup(String key, String text) {

    /** Maximum length of the compared text, in characters. */
    public static final int MAX_LENGTH = 300;

    private static final String MESSAGE = "m";

    private static final String TYPE = "t";

    private static final Pattern KEY = Pattern.compile("[mt][0-9a-f]{16}");

    /** Matches numbers, and words of hexadecimal digits or hyphens with a number. */
    private static final Pattern IDENTIFIERS = Pattern
        .compile("\\b(?=[0-9a-fA-F-]*[0-9])[0-9a-fA-F]{8}[0-9a-fA-F-]*\\b|[0-9]+(?:[.,:][0-9]+)*");

    /** Returns the group of a cause by its first line: the exception and its message. */
    public static CauseGroup of(String cause) {
        return named(MESSAGE, line(cause));
    }

    /**
     * Returns the group of a cause by the type of the exception alone, or by the reason
     * that this library gave. Its text quotes no payload.
     */
    public static CauseGroup ofType(String cause) {
        return named(TYPE, CauseMasking.masked(line(cause)));
    }

    /** Returns whether a text has the form of a {@link #key()}. */
    public static boolean isKey(String text) {
        return KEY.matcher(text).matches();
    }

    /** Returns whether a key is that of {@link #ofType}, which reveals no message. */
    public static boolean isOfType(String key) {
        return key.startsWith(TYPE);
    }

    /** Returns whether a cause belongs to the group of a key. */
    public static boolean contains(String key, String cause) {
        return key.equals((isOfType(key) ? ofType(cause) : of(cause)).key());
    }

    private static String line(String cause) {
        String line = cause.lines().findFirst().orElse("");
        return line.substring(0, Math.min(MAX_LENGTH, line.length()));
    }

    private static CauseGroup named(String kind, String line) {
        String text = IDENTIFIERS.matcher(line).replaceAll("#");
        byte[] hash = sha256().digest(text.getBytes(StandardCharsets.UTF_8));
        return new CauseGroup(kind + HexFormat.of().formatHex(hash, 0, Long.BYTES), text);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        }
        catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException("Every JVM has SHA-256", ex);
        }
    }

}
