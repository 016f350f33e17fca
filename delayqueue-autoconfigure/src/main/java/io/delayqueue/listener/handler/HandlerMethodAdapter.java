package io.delayqueue.listener.handler;

import java.lang.reflect.Type;
import java.util.Map;
import java.util.concurrent.CompletionStage;

import io.delayqueue.Delivery;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.envelope.Envelope;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.envelope.PayloadReader;
import org.jspecify.annotations.Nullable;

/** Handles messages by calling a method of a bean. Thread-safe if the bean is. */
public final class HandlerMethodAdapter implements MessageHandler {

    private final EnvelopeCodec codec;

    private final @Nullable Type payloadType;

    /** {@code null} if the method does not declare a payload. */
    private final @Nullable PayloadReader reader;

    private final HandlerInvocation invocation;

    HandlerMethodAdapter(EnvelopeCodec codec, HandlerSignature signature, HandlerInvocation invocation) {
        this.codec = codec;
        this.payloadType = signature.payloadType();
        this.reader = (signature.payloadType() != null) ? codec.reader(signature.payloadType()) : null;
        this.invocation = invocation;
    }

    /** Returns the type of the payload; {@code null} if the method has none. */
    public @Nullable Type payloadType() {
        return this.payloadType;
    }

    @Override
    public Call prepare(ClaimedMessage message, Delivery delivery) throws Exception {
        DeliveryMessage read = read(message.envelope(), delivery);
        return new MethodCall(this.invocation, this.invocation.arguments(read), read.sentHeaders());
    }

    /**
     * Holds the method with its arguments.
     *
     * @param invocation the method
     * @param arguments the arguments of the call
     * @param headers the headers of the message
     */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record MethodCall(HandlerInvocation invocation, @Nullable Object[] arguments,
            Map<String, String> headers) implements Call {

        @Override
        public @Nullable CompletionStage<?> invoke() throws Throwable {
            return (CompletionStage<?>) this.invocation.call(this.arguments);
        }

    }

    private DeliveryMessage read(byte[] stored, Delivery delivery) {
        if (this.reader == null) {
            Envelope envelope = this.codec.read(stored);
            return new DeliveryMessage(envelope.payload(), envelope.headers(), delivery);
        }
        PayloadReader.Content content = this.reader.read(stored);
        return new DeliveryMessage(content.payload(), content.headers(), delivery);
    }

}
