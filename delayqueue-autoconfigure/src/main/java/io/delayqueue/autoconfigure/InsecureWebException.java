package io.delayqueue.autoconfigure;

/** What is to be served over HTTP would be open to people whom nobody has let in. */
final class InsecureWebException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String remedy;

    InsecureWebException(String message, String remedy) {
        super(message);
        this.remedy = remedy;
    }

    /** What to do about it. */
    String remedy() {
        return this.remedy;
    }

}
