package io.delayqueue.web.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Suggests the bean that a custom message store also requires. */
final class MissingSecretStoreFailureAnalyzer extends AbstractFailureAnalyzer<MissingSecretStoreException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, MissingSecretStoreException cause) {
        return new FailureAnalysis(cause.getMessage(),
                "Define a bean of type io.delayqueue.store.SecretStore that keeps one secret for all nodes. Where there "
                        + "is only one node, SecretStore.inMemory() will do.",
                cause);
    }

}
