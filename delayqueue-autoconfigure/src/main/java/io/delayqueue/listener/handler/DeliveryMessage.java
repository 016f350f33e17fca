package io.delayqueue.listener.handler;

import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

import io.delayqueue.DelayQueueHeaders;
import io.delayqueue.Delivery;
import org.jspecify.annotations.Nullable;

import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;

/** Adapts a delivery to spring-messaging, whose resolvers find arguments in it. */
final class DeliveryMessage implements Message<Object> {

    private final Object payload;

    private final Map<String, String> sent;

    private final Delivery delivery;

    /** Created on first use; most handlers need no headers. */
    private volatile @Nullable MessageHeaders headers;

    DeliveryMessage(Object payload, Map<String, String> headers, Delivery delivery) {
        this.payload = payload;
        this.sent = headers;
        this.delivery = delivery;
    }

    Map<String, String> sentHeaders() {
        return this.sent;
    }

    Delivery delivery() {
        return this.delivery;
    }

    @Override
    public Object getPayload() {
        return this.payload;
    }

    @Override
    public MessageHeaders getHeaders() {
        MessageHeaders made = this.headers;
        if (made == null) {
            made = new Headers(this.sent, this.delivery);
            this.headers = made;
        }
        return made;
    }

    /** Omits the payload, as exceptions quote this text. */
    @Override
    public String toString() {
        return this.delivery.toString();
    }

    /**
     * Omits the random id and the timestamp that spring-messaging adds to each message,
     * so that senders may use these names too.
     */
    private static final class Headers extends MessageHeaders {

        private static final long serialVersionUID = 1L;

        Headers(Map<String, String> headers, Delivery delivery) {
            super(new HashMap<>(), ID_VALUE_NONE, -1L);
            Map<String, Object> all = getRawHeaders();
            all.putAll(headers);
            all.put(DelayQueueHeaders.QUEUE, delivery.queue());
            all.put(DelayQueueHeaders.ID, delivery.id());
            all.put(DelayQueueHeaders.ATTEMPT, delivery.attempt());
            all.put(DelayQueueHeaders.DUE_AT, delivery.dueAt());
        }

        @Override
        public @Nullable UUID getId() {
            return null;
        }

        @Override
        public @Nullable Long getTimestamp() {
            return null;
        }

    }

}
