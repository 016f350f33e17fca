package io.delayqueue.sample.embedded;

import org.jspecify.annotations.Nullable;

/** The embedded Redis server cannot be had. */
final class EmbeddedRedisException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    EmbeddedRedisException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

}
