package io.delayqueue.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names and tags the observation of a handler; a bean of this type replaces the default.
 */
public interface HandleObservationConvention extends ObservationConvention<HandleObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof HandleObservationContext;
    }

}
