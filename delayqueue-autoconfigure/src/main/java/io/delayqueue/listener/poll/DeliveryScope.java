package io.delayqueue.listener.poll;

import io.delayqueue.store.CurrentMessageHolder;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Sets the messages and the MDC of a handler's thread for one call, and restores the
 * previous ones.
 */
record DeliveryScope(CurrentMessageHolder.@Nullable Messages messages, @Nullable String queue, @Nullable String id,
        @Nullable String attempt) {

    private static final String QUEUE = "delayqueue.queue";

    private static final String ID = "delayqueue.id";

    private static final String ATTEMPT = "delayqueue.attempt";

    /** A batch of several messages has a queue, but no id and attempt. */
    static DeliveryScope enter(HandlerTask task) {
        DeliveryScope before = new DeliveryScope(CurrentMessageHolder.bind(task), MDC.get(QUEUE), MDC.get(ID),
                MDC.get(ATTEMPT));
        InFlightMessage first = task.messages().get(0);
        boolean alone = task.size() == 1;
        MDC.put(QUEUE, first.lease().queue().value());
        restore(ID, alone ? first.lease().id() : null);
        restore(ATTEMPT, alone ? Integer.toString(first.attempt()) : null);
        return before;
    }

    /** Restores the previous values, even if the handler changed the current ones. */
    void leave() {
        CurrentMessageHolder.bind(this.messages);
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
