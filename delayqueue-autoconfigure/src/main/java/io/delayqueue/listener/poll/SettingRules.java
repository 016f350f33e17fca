package io.delayqueue.listener.poll;

import java.time.Duration;

import io.delayqueue.store.Texts;

/** Validates settings, with uniform messages. */
final class SettingRules {

    private SettingRules() {
    }

    static void check(boolean met, String name, String rule, Object value) {
        if (!met) {
            throw new IllegalArgumentException("%s must be %s, but was %s".formatted(name, rule,
                    (value instanceof Duration span) ? Texts.span(span) : value));
        }
    }

}
