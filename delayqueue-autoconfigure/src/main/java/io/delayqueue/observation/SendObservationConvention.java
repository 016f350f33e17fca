package io.delayqueue.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/** Names and tags the observation of a send; a bean of this type replaces the default. */
public interface SendObservationConvention extends ObservationConvention<SendObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof SendObservationContext;
    }

}
