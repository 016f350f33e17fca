package io.delayqueue.intake;

import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/** Holds the headers of a message of a broker while they are read. Not thread-safe. */
final class IntakeHeaders {

    private final Map<String, String> texts = new HashMap<>();

    private final Map<String, byte[]> binaries = new HashMap<>();

    /** Adds a header, which replaces one of that name. */
    void put(String name, String value) {
        this.binaries.remove(name);
        this.texts.put(name, value);
    }

    /** Adds a header that is a text if its bytes are one in UTF-8. */
    void put(String name, byte[] value) {
        String text = StrictUtf8.decode(value);
        if (text != null) {
            put(name, text);
        }
        else {
            this.texts.remove(name);
            this.binaries.put(name, value);
        }
    }

    /** Returns the text of a header; {@code null} if there is none. */
    @Nullable String text(String name) {
        return this.texts.get(name);
    }

    Map<String, String> texts() {
        return this.texts;
    }

    /** Returns the headers that are no texts. */
    Map<String, byte[]> binaries() {
        return this.binaries;
    }

}
