package io.delayqueue;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Masks the cause of a dead letter for callers without the permission to read payloads,
 * because an exception message may quote a payload and a consumer may write any text.
 * Keeps the type of the exception, and the reasons given by the library itself, which
 * contain no data of a message except numbers.
 */
public final class CauseMasking {

    /** Replaces every other cause. */
    public static final String MASKED = "(masked)";

    /** Cause for a payload that no consumer could read over HTTP. */
    public static final String NO_JSON = "Its payload is null, or no JSON that consumers over HTTP could read";

    private static final int MAX_TYPE_LENGTH = 300;

    private static final Pattern TYPE = Pattern.compile("((?:[a-z_][\\w$]*\\.)+[A-Z][\\w$]*)(?::|\\R|$)");

    private static final List<Pattern> REASONS = List.of(Pattern.compile("missing|expired"),
            Pattern.compile("Its lease ran out \\d+ times? after it had started \\(max-lapses is \\d+\\)"),
            Pattern.compile("Its lease ran out \\d+ times? while it was handled \\(max-lapses is \\d+\\): "
                    + "its handler may end or stall the process"),
            Pattern.compile("It has failed \\d+ times? \\(max-attempts is \\d+\\)"),
            Pattern.compile("The handler gave no reason"), Pattern.compile(Pattern.quote(NO_JSON)));

    private CauseMasking() {
    }

    /** Returns the masked cause in one line. */
    public static String masked(String cause) {
        Matcher type = TYPE.matcher(cause).region(0, Math.min(cause.length(), MAX_TYPE_LENGTH));
        if (type.lookingAt()) {
            return type.group(1);
        }
        return REASONS.stream().anyMatch((reason) -> reason.matcher(cause).matches()) ? cause : MASKED;
    }

}
