package io.delayqueue.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains which property of a forward or an intake is not possible, and why. */
final class InvalidBrokerSettingFailureAnalyzer extends AbstractFailureAnalyzer<InvalidBrokerSettingException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidBrokerSettingException cause) {
        return new FailureAnalysis("The property '%s' is '%s', which is not possible:%n%n    %s"
            .formatted(cause.property(), cause.value(), cause.problem()),
                "Correct the property, or the configuration of the broker's client.", cause);
    }

}
