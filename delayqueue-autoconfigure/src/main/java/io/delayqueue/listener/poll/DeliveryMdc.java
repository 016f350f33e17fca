package io.delayqueue.listener.poll;

import io.delayqueue.store.CurrentMessage;
import io.delayqueue.store.Lease;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Tells the log, and senders, which message the current thread works on.
 *
 * @param message what was there before
 * @param queue what was there before
 * @param id what was there before
 * @param attempt what was there before
 */
record DeliveryMdc(@Nullable Lease message, @Nullable String queue, @Nullable String id, @Nullable String attempt) {

    private static final String QUEUE = "delayqueue.queue";

    private static final String ID = "delayqueue.id";

    private static final String ATTEMPT = "delayqueue.attempt";

    static DeliveryMdc enter(InFlightMessage held) {
        DeliveryMdc before = new DeliveryMdc(CurrentMessage.bind(held.lease()), MDC.get(QUEUE), MDC.get(ID),
                MDC.get(ATTEMPT));
        MDC.put(QUEUE, held.lease().queue().value());
        MDC.put(ID, held.lease().id());
        MDC.put(ATTEMPT, Integer.toString(held.attempt()));
        return before;
    }

    /** Restores what was there before, whatever the handler did to it. */
    void leave() {
        CurrentMessage.bind(this.message);
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
