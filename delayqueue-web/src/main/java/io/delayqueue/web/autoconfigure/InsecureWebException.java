package io.delayqueue.web.autoconfigure;

/**
 * Reports that the HTTP API or the dashboard would be accessible without authorization.
 */
final class InsecureWebException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String remedy;

    InsecureWebException(String message, String remedy) {
        super(message);
        this.remedy = remedy;
    }

    /** Returns how to fix it. */
    String remedy() {
        return this.remedy;
    }

}
