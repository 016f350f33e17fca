package io.delayqueue.listener;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Tells the log which message the current thread works on.
 *
 * @param queue what was there before
 * @param id what was there before
 * @param attempt what was there before
 */
record DeliveryContext(@Nullable String queue, @Nullable String id, @Nullable String attempt) {

    private static final String QUEUE = "delayqueue.queue";

    private static final String ID = "delayqueue.id";

    private static final String ATTEMPT = "delayqueue.attempt";

    static DeliveryContext enter(HeldLease held) {
        DeliveryContext before = new DeliveryContext(MDC.get(QUEUE), MDC.get(ID), MDC.get(ATTEMPT));
        MDC.put(QUEUE, held.lease().queue().value());
        MDC.put(ID, held.lease().id());
        MDC.put(ATTEMPT, Integer.toString(held.attempt()));
        return before;
    }

    /** Restores what was there before, whatever the handler did to it. */
    void leave() {
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
