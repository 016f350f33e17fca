package io.delayqueue.migrate.cli;

import java.util.regex.Pattern;

/** Removes credentials from texts of other libraries. */
final class Redaction {

    private static final Pattern USER_INFO = Pattern.compile("(?<=//)[^/@\\s]*@");

    private static final Pattern PARAMETER = Pattern.compile("(?i)((?:password|passwd|pwd|user|username)=)[^&;,\\s]*");

    private Redaction() {
    }

    /** Describes a failure without credentials. */
    static String of(Throwable failure) {
        return failure.getClass().getSimpleName() + ": " + of(String.valueOf(failure.getMessage()));
    }

    /** Returns the text without user names and passwords of addresses. */
    static String of(String text) {
        return PARAMETER.matcher(USER_INFO.matcher(text).replaceAll("***@")).replaceAll("$1***");
    }

}
