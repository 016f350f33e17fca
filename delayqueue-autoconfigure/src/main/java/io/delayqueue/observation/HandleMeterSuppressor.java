package io.delayqueue.observation;

import io.micrometer.core.instrument.observation.MeterObservationHandler;
import io.micrometer.observation.Observation;

/**
 * Keeps observations of handlers from creating meters, because the library has meters of
 * handlers with and without observations. Must precede other handlers that create meters,
 * of which Boot uses the first one that supports a context. Spans are not affected.
 */
public final class HandleMeterSuppressor implements MeterObservationHandler<HandleObservationContext> {

    @Override
    public boolean supportsContext(Observation.Context context) {
        return context instanceof HandleObservationContext;
    }

}
