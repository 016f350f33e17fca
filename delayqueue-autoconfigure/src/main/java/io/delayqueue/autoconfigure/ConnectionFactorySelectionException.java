package io.delayqueue.autoconfigure;

import java.util.List;

/** Reports that the connection factory of the delay queue is ambiguous or missing. */
final class ConnectionFactorySelectionException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final String property;

    private final transient List<String> candidates;

    /**
     * Creates an exception.
     * @param property the property that names the connection factory
     * @param candidates the names that it may have
     */
    ConnectionFactorySelectionException(String problem, String property, List<String> candidates) {
        super(problem);
        this.property = property;
        this.candidates = candidates;
    }

    String property() {
        return this.property;
    }

    List<String> candidates() {
        return this.candidates;
    }

}
