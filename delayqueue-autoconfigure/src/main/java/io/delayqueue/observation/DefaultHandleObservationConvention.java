package io.delayqueue.observation;

import io.delayqueue.observation.DelayQueueObservation.HighCardinality;
import io.delayqueue.observation.DelayQueueObservation.LowCardinality;
import io.micrometer.common.KeyValues;

/**
 * Names and tags handlers by default. Extend it by composition.
 *
 * @see HandleObservationConvention
 */
public final class DefaultHandleObservationConvention implements HandleObservationConvention {

    @Override
    public String getName() {
        return "delayqueue.handle";
    }

    @Override
    public String getContextualName(HandleObservationContext context) {
        return context.delivery().queue() + " process";
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(HandleObservationContext context) {
        return KeyValues.of(LowCardinality.SYSTEM.withValue("delayqueue"),
                LowCardinality.OPERATION.withValue("process"),
                LowCardinality.QUEUE.withValue(context.delivery().queue()),
                LowCardinality.LISTENER.withValue(context.listener()),
                LowCardinality.OUTCOME.withValue((context.getError() != null) ? "failure" : "success"));
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(HandleObservationContext context) {
        if (context.deliveries().size() > 1) {
            return KeyValues.of(HighCardinality.BATCH_SIZE.withValue(Integer.toString(context.deliveries().size())));
        }
        return KeyValues.of(HighCardinality.ID.withValue(context.delivery().id()),
                HighCardinality.ATTEMPT.withValue(Integer.toString(context.delivery().attempt())));
    }

}
