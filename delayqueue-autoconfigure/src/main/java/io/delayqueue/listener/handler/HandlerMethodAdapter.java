package io.delayqueue.listener.handler;

import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

import io.delayqueue.Delivery;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.envelope.Envelope;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.envelope.PayloadReader;
import org.jspecify.annotations.Nullable;

/**
 * Handles messages, or batches of them, by calling a method of a bean or a function.
 * Thread-safe if these are.
 */
public final class HandlerMethodAdapter implements MessageHandler {

    private static final int NO_BATCH = 0;

    private final EnvelopeCodec codec;

    private final @Nullable Type payloadType;

    /** {@code null} if the method does not declare a payload. */
    private final @Nullable PayloadReader reader;

    private final HandlerInvocation invocation;

    private final int batchSize;

    /** Creates a handler that receives one message at a time. */
    HandlerMethodAdapter(EnvelopeCodec codec, @Nullable Type payloadType, HandlerInvocation invocation) {
        this(codec, payloadType, invocation, NO_BATCH);
    }

    /**
     * Creates a handler.
     * @param batchSize the maximum number of messages of a batch; 0 for one message at a
     * time
     */
    HandlerMethodAdapter(EnvelopeCodec codec, @Nullable Type payloadType, HandlerInvocation invocation, int batchSize) {
        this.codec = codec;
        this.payloadType = payloadType;
        this.reader = (payloadType != null) ? codec.reader(payloadType) : null;
        this.invocation = invocation;
        this.batchSize = batchSize;
    }

    /** Returns the type of a payload; {@code null} if the method has none. */
    public @Nullable Type payloadType() {
        return this.payloadType;
    }

    /** Returns whether the handling has ended when a call has returned. */
    boolean isImmediate() {
        return this.invocation.isImmediate();
    }

    @Override
    public boolean isBatch() {
        return this.batchSize != NO_BATCH;
    }

    @Override
    public int claimLimit() {
        return isBatch() ? this.batchSize : Integer.MAX_VALUE;
    }

    /** Returns the method; {@code null} for a function. */
    @Nullable BeanMethod method() {
        return this.invocation.method();
    }

    @Override
    public Call prepare(ClaimedMessage message, Delivery delivery) throws Exception {
        DeliveryMessage read = read(message.envelope(), delivery);
        if (isBatch()) {
            this.invocation.check(read);
            return new BatchItem(read);
        }
        return new BoundCall(this.invocation.bind(read), read.sentHeaders());
    }

    private DeliveryMessage read(byte[] stored, Delivery delivery) {
        if (this.reader == null) {
            Envelope envelope = this.codec.read(stored);
            return new DeliveryMessage(envelope.payload(), envelope.headers(), delivery);
        }
        PayloadReader.Content content = this.reader.read(stored);
        return new DeliveryMessage(content.payload(), content.headers(), delivery);
    }

    @Override
    public Call combine(List<Call> calls) throws Exception {
        return new BoundCall(this.invocation.bind(calls.stream().map((call) -> ((BatchItem) call).message()).toList()),
                Map.of());
    }

    /** Returns the name of the handler, for the log. */
    @Override
    public String toString() {
        return this.invocation.name();
    }

    private record BoundCall(HandlerInvocation.Bound bound, Map<String, String> headers) implements Call {

        @Override
        public @Nullable CompletionStage<?> invoke(Executor continuations) throws Throwable {
            return this.bound.call(continuations);
        }

    }

    /** Holds a message of a batch that was read. */
    private record BatchItem(DeliveryMessage message) implements Call {

        @Override
        public @Nullable CompletionStage<?> invoke(Executor continuations) {
            throw new IllegalStateException("A message of a batch is handled with the batch");
        }

        @Override
        public Map<String, String> headers() {
            return this.message.sentHeaders();
        }

    }

}
