package io.delayqueue.autoconfigure;

import java.util.List;

/** Reports that the connection factory of the delay queue is ambiguous or missing. */
final class ConnectionFactorySelectionException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final transient List<String> candidates;

    ConnectionFactorySelectionException(String problem, List<String> candidates) {
        super(problem);
        this.candidates = candidates;
    }

    List<String> candidates() {
        return this.candidates;
    }

}
