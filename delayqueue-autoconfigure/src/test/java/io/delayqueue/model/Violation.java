package io.delayqueue.model;

/** A promise is broken. */
final class Violation extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String promise;

    Violation(String promise, String how) {
        super(promise + ": " + how, null, false, false);
        this.promise = promise;
    }

    String promise() {
        return this.promise;
    }

}
