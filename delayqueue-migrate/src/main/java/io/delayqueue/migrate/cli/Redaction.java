package io.delayqueue.migrate.cli;

import java.util.List;
import java.util.regex.Pattern;

/** Removes credentials from arguments and from texts of other libraries. */
final class Redaction {

    private static final String SECRET = "(?i)(?:password|passwd|pwd|user|username)";

    /** Ends at the last {@code @} of a word, as a password may contain others. */
    private static final Pattern USER_INFO = Pattern.compile("(?<=//)\\S*@");

    private static final Pattern USER_INFO_OF_ARGUMENT = Pattern.compile("(?s)(?<=//).*@");

    private static final Pattern PARAMETER = Pattern.compile("(" + SECRET + "=)[^&;,\\s]*");

    private static final Pattern SECRET_NAME = Pattern.compile(SECRET + "$");

    private Redaction() {
    }

    /** Describes a failure without credentials. */
    static String of(Throwable failure) {
        return failure.getClass().getSimpleName() + ": " + of(String.valueOf(failure.getMessage()));
    }

    /** Returns the text without user names and passwords of addresses. */
    static String of(String text) {
        return USER_INFO.matcher(PARAMETER.matcher(text).replaceAll("$1***")).replaceAll("***@");
    }

    /**
     * Returns the text without the values of arguments that it quotes. A password may
     * contain any character, so where it ends cannot be found in the text.
     */
    static String of(String text, List<String> arguments) {
        String redacted = text;
        String previous = "";
        for (String argument : arguments) {
            String shown = SECRET_NAME.matcher(previous).find() ? "***" : name(argument);
            redacted = redacted.replace("'" + argument + "'", "'" + shown + "'");
            previous = argument;
        }
        return of(redacted);
    }

    /** Returns an argument without its value, and without credentials of an address. */
    static String name(String argument) {
        return USER_INFO_OF_ARGUMENT.matcher(argument).replaceAll("***@").split("=", 2)[0];
    }

}
