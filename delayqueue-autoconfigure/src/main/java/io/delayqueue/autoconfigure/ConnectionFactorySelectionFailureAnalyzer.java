package io.delayqueue.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains which connection factories exist, and how to choose one. */
final class ConnectionFactorySelectionFailureAnalyzer
        extends AbstractFailureAnalyzer<ConnectionFactorySelectionException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, ConnectionFactorySelectionException cause) {
        String action = cause.candidates().isEmpty()
                ? "Add spring-boot-starter-data-redis or define a RedisConnectionFactory, or set "
                        + "delayqueue.store=memory to keep messages in this process, or delayqueue.enabled=false to do "
                        + "without the delay queue."
                : "Set %s to one of %s, or mark one of them as @Primary.".formatted(cause.property(),
                        cause.candidates());
        return new FailureAnalysis(cause.getMessage() + ".", action, cause);
    }

}
