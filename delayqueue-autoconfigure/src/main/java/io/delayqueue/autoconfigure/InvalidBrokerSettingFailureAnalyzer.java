package io.delayqueue.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains which queue cannot be forwarded, and why. */
final class InvalidForwardFailureAnalyzer extends AbstractFailureAnalyzer<InvalidForwardException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidForwardException cause) {
        return new FailureAnalysis(
                "The messages of a queue cannot be forwarded to '%s', the value of '%s':%n%n    %s"
                    .formatted(cause.target(), cause.property(), cause.problem()),
                "Correct the property, or the configuration of the broker's client.", cause);
    }

}
