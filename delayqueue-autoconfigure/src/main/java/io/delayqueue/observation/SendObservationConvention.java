package io.delayqueue.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names and tags the observation of a send; a bean of this type replaces the default.
 * <p>
 * Adds a tag to those of the default, whose class is final: <pre class="code">
 * &#64;Component
 * class TeamConvention implements SendObservationConvention {
 *
 *     private final SendObservationConvention defaults = new DefaultSendObservationConvention();
 *
 *     &#64;Override
 *     public String getName() {
 *         return this.defaults.getName();
 *     }
 *
 *     &#64;Override
 *     public String getContextualName(SendObservationContext context) {
 *         return this.defaults.getContextualName(context);
 *     }
 *
 *     &#64;Override
 *     public KeyValues getLowCardinalityKeyValues(SendObservationContext context) {
 *         return this.defaults.getLowCardinalityKeyValues(context).and("team", "orders");
 *     }
 *
 *     &#64;Override
 *     public KeyValues getHighCardinalityKeyValues(SendObservationContext context) {
 *         return this.defaults.getHighCardinalityKeyValues(context);
 *     }
 *
 * }
 * </pre>
 */
public interface SendObservationConvention extends ObservationConvention<SendObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof SendObservationContext;
    }

}
