package io.delayqueue.forward;

import java.util.Map;

import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;

/**
 * Gives the expression of a key access to a message. Public, as expressions read only
 * public types.
 */
public final class ExpressionRoot {

    private final ForwardedMessage message;

    private final EnvelopeCodec codec;

    ExpressionRoot(ForwardedMessage message, EnvelopeCodec codec) {
        this.message = message;
        this.codec = codec;
    }

    public String getId() {
        return this.message.id();
    }

    public String getQueue() {
        return this.message.queue();
    }

    public @Nullable String getGroup() {
        return this.message.group();
    }

    public Map<String, String> getHeaders() {
        return this.message.headers();
    }

    /** Returns maps, lists, texts, numbers and booleans. */
    public Object getPayload() {
        return this.codec.readPayload(this.message.payload(), Object.class);
    }

}
