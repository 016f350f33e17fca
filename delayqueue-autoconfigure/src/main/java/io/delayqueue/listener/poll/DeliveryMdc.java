package io.delayqueue.listener.poll;

import io.delayqueue.store.CurrentMessageHolder;
import io.delayqueue.store.Lease;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Exposes the message that the current thread handles to the log and to senders; holds
 * the previous message and values.
 */
record DeliveryMdc(@Nullable Lease message, @Nullable String queue, @Nullable String id, @Nullable String attempt) {

    private static final String QUEUE = "delayqueue.queue";

    private static final String ID = "delayqueue.id";

    private static final String ATTEMPT = "delayqueue.attempt";

    static DeliveryMdc enter(InFlightMessage inFlight) {
        DeliveryMdc before = new DeliveryMdc(CurrentMessageHolder.bind(inFlight.lease()), MDC.get(QUEUE), MDC.get(ID),
                MDC.get(ATTEMPT));
        MDC.put(QUEUE, inFlight.lease().queue().value());
        MDC.put(ID, inFlight.lease().id());
        MDC.put(ATTEMPT, Integer.toString(inFlight.attempt()));
        return before;
    }

    /** Restores the previous values, even if the handler changed the current ones. */
    void leave() {
        CurrentMessageHolder.bind(this.message);
        restore(QUEUE, this.queue);
        restore(ID, this.id);
        restore(ATTEMPT, this.attempt);
    }

    private static void restore(String key, @Nullable String value) {
        if (value != null) {
            MDC.put(key, value);
        }
        else {
            MDC.remove(key);
        }
    }

}
