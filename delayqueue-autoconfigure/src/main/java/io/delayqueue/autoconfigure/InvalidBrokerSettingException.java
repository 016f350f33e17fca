package io.delayqueue.autoconfigure;

/** Reports, at startup, a queue that cannot be forwarded as configured. */
final class InvalidForwardException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final String property;

    private final String target;

    private final String problem;

    InvalidForwardException(String queue, String target, RuntimeException cause) {
        super("delayqueue.forward.%s.to is '%s', which is not possible: %s".formatted(queue, target,
                cause.getMessage()), cause);
        this.property = "delayqueue.forward.%s.to".formatted(queue);
        this.target = target;
        this.problem = String.valueOf(cause.getMessage());
    }

    String property() {
        return this.property;
    }

    String target() {
        return this.target;
    }

    String problem() {
        return this.problem;
    }

}
