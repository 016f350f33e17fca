package io.delayqueue.listener;

import java.time.Duration;

import io.delayqueue.engine.Texts;

/** Words for settings that are wrong. */
final class Settings {

    private Settings() {
    }

    static void check(boolean met, String name, String rule, Object value) {
        if (!met) {
            throw new IllegalArgumentException("%s must be %s, but was %s".formatted(name, rule,
                    (value instanceof Duration span) ? Texts.span(span) : value));
        }
    }

}
