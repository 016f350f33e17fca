package io.delayqueue.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Names the bean that a message store of the application needs besides. */
final class MissingSecretStoreFailureAnalyzer extends AbstractFailureAnalyzer<MissingSecretStoreException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, MissingSecretStoreException cause) {
        return new FailureAnalysis(cause.getMessage(),
                "Define a bean of type io.delayqueue.store.SecretStore that keeps one secret for all nodes. Where there "
                        + "is only one node, SecretStore.inMemory() will do.",
                cause);
    }

}
