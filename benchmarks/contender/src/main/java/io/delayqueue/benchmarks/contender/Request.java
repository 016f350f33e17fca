package io.delayqueue.benchmarks.contender;

import java.util.Map;
import java.util.TreeMap;

/**
 * A request of the runner: one line, a command and then words {@code name=value}. Flat
 * words and no JSON, so that the protocol needs no library that a contender might have in
 * another version.
 *
 * @param command what to do
 * @param values with what
 */
record Request(String command, Map<String, String> values) {

    static Request parse(String line) {
        String[] words = line.trim().split(" +");
        Map<String, String> values = new TreeMap<>();
        for (int i = 1; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            values.put(words[i].substring(0, equals), words[i].substring(equals + 1));
        }
        return new Request(words[0], values);
    }

    String text(String name) {
        String value = this.values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("'%s' needs '%s'".formatted(this.command, name));
        }
        return value;
    }

    String text(String name, String otherwise) {
        return this.values.getOrDefault(name, otherwise);
    }

    long number(String name) {
        return Long.parseLong(text(name));
    }

    int count(String name) {
        return Integer.parseInt(text(name));
    }

    long number(String name, long otherwise) {
        return Long.parseLong(text(name, Long.toString(otherwise)));
    }

}
