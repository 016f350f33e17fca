package io.delayqueue.listener;

import java.util.concurrent.CompletionStage;

import io.delayqueue.Delivery;
import io.delayqueue.engine.ClaimedMessage;
import io.delayqueue.engine.Envelope;
import io.delayqueue.engine.EnvelopeCodec;
import org.jspecify.annotations.Nullable;

/** Handles messages by a method of a bean. Thread-safe as far as the bean is. */
final class HandlerMethodAdapter implements MessageHandler {

    private final EnvelopeCodec codec;

    private final HandlerSignature signature;

    private final HandlerInvocation invocation;

    HandlerMethodAdapter(EnvelopeCodec codec, HandlerSignature signature, HandlerInvocation invocation) {
        this.codec = codec;
        this.signature = signature;
        this.invocation = invocation;
    }

    @Override
    public Call prepare(ClaimedMessage message, Delivery delivery) throws Exception {
        Envelope envelope = this.codec.read(message.envelope());
        Object payload = (this.signature.payloadType() != null)
                ? this.codec.readPayload(envelope.payload(), this.signature.payloadType()) : envelope.payload();
        @Nullable Object[] arguments = this.invocation.arguments(new DeliveryMessage(payload, envelope.headers(), delivery));
        return () -> (CompletionStage<?>) this.invocation.call(arguments);
    }

}
