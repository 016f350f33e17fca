package io.delayqueue.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens and closes the scope of an observation without failing the observed operation:
 * logs exceptions of observation handlers, and restores the previous scope. Used by one
 * thread.
 */
final class FailSafeObservationScope implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(FailSafeObservationScope.class);

    private final ObservationRegistry registry;

    private final Observation.@Nullable Scope before;

    private final Observation.@Nullable Scope scope;

    private FailSafeObservationScope(ObservationRegistry registry, Observation observation) {
        this.registry = registry;
        this.before = registry.getCurrentObservationScope();
        this.scope = open(observation);
    }

    static FailSafeObservationScope of(ObservationRegistry registry, Observation observation) {
        return new FailSafeObservationScope(registry, observation);
    }

    private Observation.@Nullable Scope open(Observation observation) {
        try {
            return observation.openScope();
        }
        catch (RuntimeException ex) {
            logger.warn("The scope of an observation could not be opened; the observed operation continues", ex);
            Observation.Scope half = this.registry.getCurrentObservationScope();
            if (half != this.before) {
                close(half);
            }
            return null;
        }
    }

    @Override
    public void close() {
        close(this.scope);
    }

    private void close(Observation.@Nullable Scope opened) {
        if (opened == null) {
            return;
        }
        try {
            opened.close();
        }
        catch (RuntimeException ex) {
            logger.warn("The scope of an observation could not be closed; the observed operation continues", ex);
            this.registry.setCurrentObservationScope(this.before);
        }
    }

}
