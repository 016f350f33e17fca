package io.delayqueue.store;

import java.time.Duration;

import io.delayqueue.MessageLimits;

/** Words numbers and time spans for logs and messages of exceptions. */
public final class Texts {

    private Texts() {
    }

    /** Such as {@code 1 attempt}, {@code 5 attempts}. */
    public static String count(long number, String noun) {
        return number + " " + noun + ((number == 1) ? "" : "s");
    }

    /** Such as {@code 250 ms}, {@code 1.5 s}, {@code 2 min 30 s}, {@code 30 d}. */
    public static String span(Duration span) {
        return MessageLimits.describe(span);
    }

}
