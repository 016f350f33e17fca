package io.delayqueue.listener.handler;

import java.util.concurrent.CompletionStage;

import io.delayqueue.Delivery;
import io.delayqueue.observation.MessageObservations;
import io.delayqueue.store.ClaimedMessage;
import org.jspecify.annotations.Nullable;

/**
 * Observes each call of a handler. Rejections before the call are not observed.
 *
 * @param handler the observed handler
 * @param listenerId the listener of the handler
 * @param observations creates the observations
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
