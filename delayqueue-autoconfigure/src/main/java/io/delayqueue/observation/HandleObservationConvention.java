package io.delayqueue.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names and tags the observation of a handler; a bean of this type replaces the default.
 * <p>
 * Adds a tag to those of the default: <pre class="code">
 * &#64;Bean
 * HandleObservationConvention handlers() {
 *     return new DefaultHandleObservationConvention() {
 *
 *         &#64;Override
 *         public KeyValues getLowCardinalityKeyValues(HandleObservationContext context) {
 *             return super.getLowCardinalityKeyValues(context).and("team", "orders");
 *         }
 *
 *     };
 * }
 * </pre>
 */
public interface HandleObservationConvention extends ObservationConvention<HandleObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof HandleObservationContext;
    }

}
