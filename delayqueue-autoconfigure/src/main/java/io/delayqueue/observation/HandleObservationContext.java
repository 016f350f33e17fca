package io.delayqueue.observation;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;

import io.delayqueue.Delivery;
import io.micrometer.observation.transport.ReceiverContext;
import org.jspecify.annotations.Nullable;

/** Describes an observed handler. The carrier is the headers of its message. */
public final class HandleObservationContext extends ReceiverContext<Map<String, String>> {

    private final Delivery delivery;

    private final String listener;

    private final @Nullable Duration age;

    HandleObservationContext(Delivery delivery, String listener, Map<String, String> headers) {
        super((carrier, key) -> Objects.requireNonNull(carrier).get(key));
        setCarrier(headers);
        this.delivery = delivery;
        this.listener = listener;
        this.age = SentAtHeader.age(headers, delivery);
    }

    /** Returns the delivery that the handler receives. */
    public Delivery delivery() {
        return this.delivery;
    }

    /** Returns the id of the listener. */
    public String listener() {
        return this.listener;
    }

    /**
     * Returns the approximate age of the message, if its send was observed. Depends on
     * the clock of the sender, so it is for traces only.
     */
    public @Nullable Duration age() {
        return this.age;
    }

}
