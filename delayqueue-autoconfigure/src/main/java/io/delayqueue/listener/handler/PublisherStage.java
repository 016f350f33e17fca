package io.delayqueue.listener.handler;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * Completes with a publisher, whose values it ignores. A publisher that is cancelled
 * sends no further signal, so the handling has ended with the cancellation.
 */
final class PublisherStage extends CompletableFuture<@Nullable Object> implements CancellableStage, Subscriber<Object> {

    private static final Subscription CANCELLED = new Subscription() {

        @Override
        public void request(long count) {
        }

        @Override
        public void cancel() {
        }

    };

    private final AtomicReference<@Nullable Subscription> subscription = new AtomicReference<>();

    private PublisherStage() {
    }

    /** Subscribes to a publisher, on the calling thread. */
    static PublisherStage subscribe(Publisher<?> publisher) {
        PublisherStage stage = new PublisherStage();
        publisher.subscribe(stage);
        return stage;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        if (this.subscription.compareAndSet(null, subscription)) {
            subscription.request(Long.MAX_VALUE);
        }
        else {
            subscription.cancel();
        }
    }

    @Override
    public void onNext(Object value) {
    }

    @Override
    public void onError(Throwable failure) {
        completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
        complete(null);
    }

    @Override
    public void requestCancellation() {
        Subscription running = this.subscription.getAndSet(CANCELLED);
        try {
            if (running != null) {
                running.cancel();
            }
        }
        finally {
            // Also if the cancellation fails, or the permit would never return.
            completeExceptionally(new CancellationException("The subscription of the handler was cancelled"));
        }
    }

}
