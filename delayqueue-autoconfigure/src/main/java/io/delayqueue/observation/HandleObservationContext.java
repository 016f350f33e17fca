package io.delayqueue.observation;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;

import io.delayqueue.Delivery;
import io.micrometer.observation.transport.ReceiverContext;
import org.jspecify.annotations.Nullable;

/** A handler under observation. The carrier are the headers of its message. */
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

    /** What the handler is given, apart from the payload. */
    public Delivery delivery() {
        return this.delivery;
    }

    /** The id of the listener. */
    public String listener() {
        return this.listener;
    }

    /**
     * About how long ago the message was sent, if it was sent under observation: the
     * clock of the sender takes part, so this is for traces only.
     */
    public @Nullable Duration age() {
        return this.age;
    }

}
