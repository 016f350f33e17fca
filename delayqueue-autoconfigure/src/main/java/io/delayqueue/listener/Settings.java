package io.delayqueue.listener;

/** Words for settings that are wrong. */
final class Settings {

    private Settings() {
    }

    static void check(boolean met, String name, String rule, Object value) {
        if (!met) {
            throw new IllegalArgumentException("%s must be %s, but was %s".formatted(name, rule, value));
        }
    }

}
