package io.delayqueue.migrate;

import org.jspecify.annotations.Nullable;

/**
 * Reports that a source cannot be used. The message is shown to the operator, so it names
 * the reason and contains neither credentials nor payloads.
 */
public class SourceException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public SourceException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

}
