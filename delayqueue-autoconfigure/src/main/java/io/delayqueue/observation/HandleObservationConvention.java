package io.delayqueue.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names and tags the observation of a handler; a bean of this type replaces the default.
 * <p>
 * Adds a tag to those of the default, whose class is final: <pre class="code">
 * &#64;Component
 * class TeamConvention implements HandleObservationConvention {
 *
 *     private final HandleObservationConvention defaults = new DefaultHandleObservationConvention();
 *
 *     &#64;Override
 *     public String getName() {
 *         return this.defaults.getName();
 *     }
 *
 *     &#64;Override
 *     public String getContextualName(HandleObservationContext context) {
 *         return this.defaults.getContextualName(context);
 *     }
 *
 *     &#64;Override
 *     public KeyValues getLowCardinalityKeyValues(HandleObservationContext context) {
 *         return this.defaults.getLowCardinalityKeyValues(context).and("team", "orders");
 *     }
 *
 *     &#64;Override
 *     public KeyValues getHighCardinalityKeyValues(HandleObservationContext context) {
 *         return this.defaults.getHighCardinalityKeyValues(context);
 *     }
 *
 * }
 * </pre>
 */
public interface HandleObservationConvention extends ObservationConvention<HandleObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof HandleObservationContext;
    }

}
