package io.delayqueue.autoconfigure;

import io.delayqueue.listener.handler.InvalidListenerException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains which listener is invalid, and why. */
final class InvalidListenerFailureAnalyzer extends AbstractFailureAnalyzer<InvalidListenerException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidListenerException cause) {
        return new FailureAnalysis(
                "The @DelayedListener on method '%s' of bean '%s' cannot work:%n%n    %s".formatted(cause.method(),
                        cause.beanName(), cause.problem()),
                "Correct the annotation, the signature of the method, or the property that the value comes from.",
                cause);
    }

}
