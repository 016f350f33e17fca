package io.delayqueue.store;

import java.time.Duration;
import java.util.stream.Collectors;

import io.delayqueue.MessageLimits;

/** Formats numbers, time spans and foreign texts for log and exception messages. */
public final class Texts {

    private Texts() {
    }

    /** Returns text such as {@code 1 attempt} or {@code 5 attempts}. */
    public static String count(long number, String noun) {
        return number + " " + noun + ((number == 1) ? "" : "s");
    }

    /**
     * Returns text such as {@code 250 ms}, {@code 1.5 s}, {@code 2 min 30 s} or
     * {@code 30 d}.
     */
    public static String span(Duration span) {
        return MessageLimits.describe(span);
    }

    /** Returns a text with at most that many characters. */
    public static String cut(String text, int length) {
        return (text.length() <= length) ? text : text.substring(0, length - 3) + "...";
    }

    /** Returns a text from outside in one line, cut, and without control characters. */
    public static String line(String text, int length) {
        return cut(text.lines().collect(Collectors.joining(" ")), length).replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "?");
    }

}
