package io.delayqueue.template;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;

import io.delayqueue.QueueName;
import io.delayqueue.ReceivedMessage;
import io.delayqueue.consume.ConsumeSettings;
import io.delayqueue.consume.LeaseSettler;
import io.delayqueue.consume.MessageClaimer;
import io.delayqueue.consume.WaitingClaim;
import io.delayqueue.consume.QueuePoller;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.StoreComponents;

/**
 * Claims one message for a caller, or waits for one, with a {@link QueuePoller} for each
 * call. Thread-safe; blocks the caller's thread.
 */
final class Receiver {

    private final EnvelopeCodec codec;

    private final BlockingStoreCalls calls;

    private final LeaseSettler settler;

    private final MessageClaimer<ReceivedMessage> claimer;

    private final WakeUps wakeUps;

    private final Function<QueueName, ConsumeSettings> settings;

    private final MessageEventRecorderFactory events;

    private final LongSupplier nanoTime;

    Receiver(StoreComponents components, EnvelopeCodec codec, LeaseSettler settler, TemplateSettings settings,
            LongSupplier nanoTime) {
        this.codec = codec;
        this.calls = new BlockingStoreCalls(settings.waitLimit());
        this.settler = settler;
        this.wakeUps = components.wakeUps();
        this.settings = settings.receive();
        this.events = components.events();
        this.nanoTime = nanoTime;
        CompletableFuture<MessageClaimer.Reader<ReceivedMessage>> reader = CompletableFuture
            .completedFuture((message, term) -> new LeasedReceivedMessage(message, codec.read(message.envelope()), this,
                    term.sent() + term.lease().toNanos()));
        this.claimer = new MessageClaimer<>(components, settler, () -> reader, settings.waitLimit(), nanoTime);
    }

    Optional<ReceivedMessage> receive(QueueName queue, Duration timeout) {
        // Creates the counters, as alerts do not notice an event that creates its own.
        this.events.of(queue);
        ConsumeSettings settings = this.settings.apply(queue);
        Duration lease = Duration.ofMillis(DueTime.ceilToMillis(settings.lease()));
        WaitingClaim<ReceivedMessage> request = new WaitingClaim<>(1, lease, now() + timeout.toNanos(),
                new CompletableFuture<>());
        CallerThreadExecutor thread = new CallerThreadExecutor(this.nanoTime);
        QueuePoller<ReceivedMessage> poller = new QueuePoller<>(queue, settings, this.claimer, this.wakeUps, thread);
        try {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            poller.join(request);
            thread.runUntilDone(request.answer());
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            request.answer().complete(List.of());
        }
        finally {
            poller.close();
            thread.end();
        }
        List<ReceivedMessage> messages = await(request.answer(), "claim");
        return messages.stream().findFirst();
    }

    <T> T await(CompletableFuture<T> answer, String operation) {
        return this.calls.await(answer, operation);
    }

    EnvelopeCodec codec() {
        return this.codec;
    }

    LeaseSettler settler() {
        return this.settler;
    }

    int maxAttempts(QueueName queue) {
        return this.settings.apply(queue).maxAttempts();
    }

    long now() {
        return this.nanoTime.getAsLong();
    }

}
