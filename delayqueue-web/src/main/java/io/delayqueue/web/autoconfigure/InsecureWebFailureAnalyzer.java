package io.delayqueue.web.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains which access control is missing. */
final class InsecureWebFailureAnalyzer extends AbstractFailureAnalyzer<InsecureWebException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InsecureWebException cause) {
        return new FailureAnalysis(cause.getMessage(), cause.remedy(), cause);
    }

}
