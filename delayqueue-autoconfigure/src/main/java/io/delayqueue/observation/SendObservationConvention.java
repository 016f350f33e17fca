package io.delayqueue.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names and tags the observation of a send; a bean of this type replaces the default.
 * <p>
 * Adds a tag to those of the default: <pre class="code">
 * &#64;Bean
 * SendObservationConvention sends() {
 *     return new DefaultSendObservationConvention() {
 *
 *         &#64;Override
 *         public KeyValues getLowCardinalityKeyValues(SendObservationContext context) {
 *             return super.getLowCardinalityKeyValues(context).and("team", "orders");
 *         }
 *
 *     };
 * }
 * </pre>
 */
public interface SendObservationConvention extends ObservationConvention<SendObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof SendObservationContext;
    }

}
