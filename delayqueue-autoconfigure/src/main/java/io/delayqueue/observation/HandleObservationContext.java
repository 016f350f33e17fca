package io.delayqueue.observation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.delayqueue.Delivery;
import io.micrometer.observation.transport.ReceiverContext;
import org.jspecify.annotations.Nullable;

/**
 * Describes an observed handler. The carrier is the headers of its message. A handler of
 * a batch has the carriers of several messages and therefore none of its own.
 *
 * @see HandleObservationConvention
 */
public final class HandleObservationContext extends ReceiverContext<Map<String, String>> {

    private final List<Delivery> deliveries;

    private final List<Map<String, String>> headers;

    private final String listener;

    private final @Nullable Duration age;

    HandleObservationContext(List<Delivery> deliveries, String listener, List<Map<String, String>> headers) {
        super((carrier, key) -> Objects.requireNonNull(carrier).get(key));
        boolean single = deliveries.size() == 1;
        setCarrier(single ? headers.get(0) : Map.of());
        this.deliveries = List.copyOf(deliveries);
        this.headers = List.copyOf(headers);
        this.listener = listener;
        this.age = single ? SentAtHeader.age(headers.get(0), deliveries.get(0)) : null;
    }

    /** Returns the delivery that the handler receives; of a batch the first one. */
    public Delivery delivery() {
        return this.deliveries.get(0);
    }

    /** Returns all deliveries that the handler receives. */
    public List<Delivery> deliveries() {
        return this.deliveries;
    }

    /** Returns the headers of the messages, in the order of the deliveries. */
    List<Map<String, String>> headers() {
        return this.headers;
    }

    /** Returns the id of the listener. */
    public String listener() {
        return this.listener;
    }

    /**
     * Returns the approximate age of the message, if it is one and its send was observed.
     * Depends on the clock of the sender, so it is for traces only.
     */
    public @Nullable Duration age() {
        return this.age;
    }

}
