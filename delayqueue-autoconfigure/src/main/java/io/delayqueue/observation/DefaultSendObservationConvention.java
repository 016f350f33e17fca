package io.delayqueue.observation;

import java.util.Locale;

import io.delayqueue.SendResult;
import io.delayqueue.observation.DelayQueueObservation.HighCardinality;
import io.delayqueue.observation.DelayQueueObservation.LowCardinality;
import io.micrometer.common.KeyValues;

/**
 * Names and tags sends by default. Extend it by composition.
 *
 * @see SendObservationConvention
 */
public final class DefaultSendObservationConvention implements SendObservationConvention {

    @Override
    public String getName() {
        return "delayqueue.send";
    }

    @Override
    public String getContextualName(SendObservationContext context) {
        return context.queue().value() + " publish";
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(SendObservationContext context) {
        return KeyValues.of(LowCardinality.SYSTEM.withValue("delayqueue"),
                LowCardinality.OPERATION.withValue("publish"), LowCardinality.QUEUE.withValue(context.queue().value()),
                LowCardinality.OUTCOME.withValue(outcome(context)));
    }

    private static String outcome(SendObservationContext context) {
        if (context.getError() != null) {
            return "failure";
        }
        SendResult result = context.result();
        return (result != null) ? result.outcome().name().toLowerCase(Locale.ROOT) : "success";
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(SendObservationContext context) {
        SendResult result = context.result();
        return (result != null) ? KeyValues.of(HighCardinality.ID.withValue(result.id()))
                : KeyValues.of(HighCardinality.BATCH_SIZE.withValue(Integer.toString(context.messages())));
    }

}
