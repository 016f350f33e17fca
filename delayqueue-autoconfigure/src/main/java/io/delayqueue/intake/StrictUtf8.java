package io.delayqueue.intake;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;

import org.jspecify.annotations.Nullable;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Reads texts in UTF-8 from bytes that may be anything. */
final class StrictUtf8 {

    private StrictUtf8() {
    }

    /**
     * Returns the text, whose encoding is the same bytes; {@code null} if they are no
     * text in UTF-8.
     */
    static @Nullable String decode(byte[] bytes) {
        try {
            return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        }
        catch (CharacterCodingException ex) {
            return null;
        }
    }

}
