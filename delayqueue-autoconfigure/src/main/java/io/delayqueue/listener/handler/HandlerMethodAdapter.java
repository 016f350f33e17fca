package io.delayqueue.listener.handler;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.concurrent.CompletionStage;

import io.delayqueue.Delivery;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.envelope.Envelope;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.envelope.PayloadReader;
import org.jspecify.annotations.Nullable;

import org.springframework.messaging.Message;
import org.springframework.messaging.handler.invocation.HandlerMethodArgumentResolverComposite;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import org.springframework.util.ReflectionUtils;

/** Handles messages by calling a method of a bean. Thread-safe if the bean is. */
public final class HandlerMethodAdapter implements MessageHandler {

    private final EnvelopeCodec codec;

    private final @Nullable Type payloadType;

    /** {@code null} if the method does not declare a payload. */
    private final @Nullable PayloadReader reader;

    private final Invocation invocation;

    HandlerMethodAdapter(EnvelopeCodec codec, HandlerSignature signature, Invocation invocation) {
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

    private DeliveryMessage read(byte[] stored, Delivery delivery) {
        if (this.reader == null) {
            Envelope envelope = this.codec.read(stored);
            return new DeliveryMessage(envelope.payload(), envelope.headers(), delivery);
        }
        PayloadReader.Content content = this.reader.read(stored);
        return new DeliveryMessage(content.payload(), content.headers(), delivery);
    }

    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record MethodCall(Invocation invocation, @Nullable Object[] arguments,
            Map<String, String> headers) implements Call {

        @Override
        public @Nullable CompletionStage<?> invoke() throws Throwable {
            return (CompletionStage<?>) this.invocation.call(this.arguments);
        }

    }

    /**
     * Resolves the arguments by the method of the bean's class, which has the
     * annotations, and calls the method of the bean, which may be a proxy. In two steps,
     * so that a failure of the first does not count as a failure of the handler.
     */
    static final class Invocation extends InvocableHandlerMethod {

        private final Method invocable;

        Invocation(Object bean, Method method, Method invocable, HandlerMethodArgumentResolverComposite resolvers) {
            super(bean, method);
            this.invocable = invocable;
            ReflectionUtils.makeAccessible(invocable);
            setMessageMethodArgumentResolvers(resolvers);
        }

        private @Nullable Object[] arguments(Message<?> message) throws Exception {
            return getMethodArgumentValues(message);
        }

        private @Nullable Object call(@Nullable Object[] arguments) throws Throwable {
            try {
                return this.invocable.invoke(getBean(), arguments);
            }
            catch (InvocationTargetException ex) {
                throw ex.getTargetException();
            }
        }

    }

}
