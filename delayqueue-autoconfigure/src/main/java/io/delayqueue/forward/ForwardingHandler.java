package io.delayqueue.forward;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

import io.delayqueue.Delivery;
import io.delayqueue.listener.handler.HandlerAvailability;
import io.delayqueue.listener.handler.HandlerAvailability.Attempt;
import io.delayqueue.listener.handler.HandlerOutage;
import io.delayqueue.listener.handler.HandlerUnavailableException;
import io.delayqueue.listener.handler.MessageHandler;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.Texts;
import io.delayqueue.store.envelope.Envelope;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.jspecify.annotations.Nullable;

/**
 * Handles the messages of a queue by forwarding them to a broker. The confirmation of the
 * broker ends the handling; no thread waits for it. While the broker is unavailable, one
 * message at a time is tried.
 * <p>
 * <strong>Threads.</strong> Handler threads forward; confirmations come on threads of the
 * broker's client.
 */
public final class ForwardingHandler implements MessageHandler {

    private final EnvelopeCodec codec;

    private final MessageForwarder forwarder;

    private final Duration timeout;

    private final HandlerAvailability availability;

    /**
     * Creates a handler.
     * @param route the queue and its target, for the log
     * @param timeout the longest time to wait for a confirmation
     */
    public ForwardingHandler(EnvelopeCodec codec, MessageForwarder forwarder, Route route, Duration timeout,
            LongSupplier nanoTime) {
        this.codec = codec;
        this.forwarder = forwarder;
        this.timeout = timeout;
        this.availability = new HandlerAvailability("Messages of queue '%s'".formatted(route.queue()),
                "forwarded to '%s'".formatted(route.target()), nanoTime);
    }

    @Override
    public Duration untilAvailable() {
        return this.availability.untilAvailable();
    }

    @Override
    public int claimLimit() {
        return this.availability.isAvailable() ? Integer.MAX_VALUE : 1;
    }

    @Override
    public @Nullable HandlerOutage outage() {
        return this.availability.outage();
    }

    @Override
    public Call prepare(ClaimedMessage message, Delivery delivery) {
        Envelope envelope = this.codec.read(message.envelope());
        return new Forwarding(new ForwardedMessage(delivery.queue(), delivery.id(), message.group(), delivery.dueAt(),
                delivery.attempt(), message.revision(), envelope.headers(), envelope.payload()));
    }

    private CompletionStage<?> forward(ForwardedMessage message) {
        Attempt attempt = this.availability.begin();
        if (attempt == Attempt.REJECTED) {
            throw new HandlerUnavailableException("Another message shows whether the broker is available", null);
        }
        // Begins before the call, which should not block, but may.
        CompletableFuture<@Nullable Object> confirmed = new CompletableFuture<@Nullable Object>()
            .orTimeout(this.timeout.toNanos(), TimeUnit.NANOSECONDS);
        try {
            this.forwarder.forward(message).whenComplete((result, failure) -> {
                if (failure != null) {
                    confirmed.completeExceptionally(failure);
                }
                else {
                    confirmed.complete(null);
                }
            });
        }
        catch (Throwable ex) {
            // An error too must end the attempt, or no other probe would follow.
            confirmed.completeExceptionally(ex);
        }
        return confirmed.handle((result, failure) -> {
            end(attempt, (failure != null) ? StoreFailures.unwrap(failure) : null);
            return null;
        });
    }

    /** Records the end of an attempt, and throws the exception that decides about it. */
    private void end(Attempt attempt, @Nullable Throwable failure) {
        if (failure == null) {
            this.availability.confirmed(attempt);
        }
        else if (failure instanceof BrokerUnavailableException || failure instanceof TimeoutException) {
            Throwable cause = (failure instanceof TimeoutException)
                    ? new BrokerUnavailableException("No confirmation within " + Texts.span(this.timeout), null)
                    : failure;
            this.availability.unavailable(attempt, cause);
            throw new HandlerUnavailableException("The broker is unavailable", cause);
        }
        else {
            this.availability.failed(attempt);
            throw (failure instanceof RuntimeException known) ? known : new CompletionException(failure);
        }
    }

    /**
     * Names a queue and the target of its messages.
     *
     * @param queue the name of the queue
     * @param target the broker and the destination on it, as configured
     */
    public record Route(String queue, String target) {
    }

    private final class Forwarding implements Call {

        private final ForwardedMessage message;

        private Forwarding(ForwardedMessage message) {
            this.message = message;
        }

        @Override
        public CompletionStage<?> invoke(Executor continuations) {
            return forward(this.message);
        }

        @Override
        public Map<String, String> headers() {
            return this.message.headers();
        }

    }

}
