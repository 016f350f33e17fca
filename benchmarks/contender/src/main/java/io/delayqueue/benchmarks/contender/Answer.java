package io.delayqueue.benchmarks.contender;

import java.util.StringJoiner;

/** An answer to the runner: one line, {@code ok} and then words {@code name=number}. */
final class Answer {

    private final StringJoiner words = new StringJoiner(" ").add("ok");

    Answer with(String name, long value) {
        this.words.add(name + "=" + value);
        return this;
    }

    @Override
    public String toString() {
        return this.words.toString();
    }

}
