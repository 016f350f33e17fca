package io.delayqueue.listener.handler;

import java.util.concurrent.CompletionStage;

import io.delayqueue.Delivery;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.ClaimedMessage;
import org.jspecify.annotations.Nullable;

/**
 * Observes each call of a handler. What a message is refused for before its handler is
 * called is no part of that.
 *
 * @param handler what is observed
 * @param listenerId whose handler it is
 * @param observations makes the observations
 */
record ObservedMessageHandler(MessageHandler handler, String listenerId,
        MessageObservations observations) implements MessageHandler {

    @Override
    public Call prepare(ClaimedMessage message, Delivery delivery) throws Exception {
        Call call = this.handler.prepare(message, delivery);
        return new Call() {

            @Override
            public @Nullable CompletionStage<?> invoke() throws Throwable {
                return ObservedMessageHandler.this.observations.handle(delivery, ObservedMessageHandler.this.listenerId,
                        call.headers(), call::invoke);
            }

        };
    }

}
