package io.delayqueue.web.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collections;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

import jakarta.servlet.http.HttpServletRequest;

/**
 * Checks whether a caller accepts gzip, and compresses byte arrays.
 */
public final class Gzip {

    private Gzip() {
    }

    /**
     * Returns whether the request names gzip, and does not exclude it by a weight of
     * zero.
     */
    public static boolean isAccepted(HttpServletRequest request) {
        return Collections.list(request.getHeaders("Accept-Encoding"))
            .stream()
            .flatMap((header) -> Stream.of(header.split(",")))
            .anyMatch((coding) -> coding.strip().matches("(?i)gzip(\\s*;\\s*q=(?!0(\\.0*)?$).*)?"));
    }

    /** Returns the content as small as gzip makes it. */
    public static byte[] compressed(byte[] content) {
        return compressed(content, Deflater.BEST_COMPRESSION);
    }

    static byte[] compressed(byte[] content, int level) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new LeveledStream(bytes, level)) {
            gzip.write(content);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return bytes.toByteArray();
    }

    private static final class LeveledStream extends GZIPOutputStream {

        LeveledStream(ByteArrayOutputStream bytes, int level) throws IOException {
            super(bytes);
            this.def.setLevel(level);
        }

    }

}
