package io.delayqueue.store;

import java.time.Duration;

import io.delayqueue.MessageLimits;

/** Formats numbers and time spans for log and exception messages. */
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

}
