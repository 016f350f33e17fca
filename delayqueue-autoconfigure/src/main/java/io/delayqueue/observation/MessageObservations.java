package io.delayqueue.observation;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.BatchSendException;
import io.delayqueue.DelayedMessage;
import io.delayqueue.Delivery;
import io.delayqueue.QueueName;
import io.delayqueue.SendResult;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Observes sends and handlers. The headers of a message carry the trace context.
 * Thread-safe.
 */
public final class MessageObservations {

    /** Observes nothing. */
    public static final MessageObservations NONE = new MessageObservations(ObservationRegistry.NOOP, null, null);

    private static final Logger logger = LoggerFactory.getLogger(MessageObservations.class);

    private static final SendObservationConvention SEND = new DefaultSendObservationConvention();

    private static final HandleObservationConvention HANDLE = new DefaultHandleObservationConvention();

    private final ObservationRegistry registry;

    private final @Nullable SendObservationConvention send;

    private final @Nullable HandleObservationConvention handle;

    /**
     * Creates observations.
     * @param registry creates the observations
     * @param send names and tags of sends; {@code null} for the default
     * @param handle names and tags of handlers; {@code null} for the default
     */
    public MessageObservations(ObservationRegistry registry, @Nullable SendObservationConvention send,
            @Nullable HandleObservationConvention handle) {
        this.registry = registry;
        this.send = send;
        this.handle = handle;
    }

    /** Observes the send of one message, which may add headers to it. */
    public SendResult send(DelayedMessage message, Function<DelayedMessage, SendResult> call) {
        if (this.registry.isNoop()) {
            return call.apply(message);
        }
        Sending sending = start(message.queue(), 1);
        try (FailSafeObservationScope scope = FailSafeObservationScope.of(this.registry, sending.observation())) {
            SendResult result = call.apply(sending.mark(message));
            sending.context().result(result);
            sending.end(null);
            return result;
        }
        catch (RuntimeException | Error ex) {
            sending.end(ex);
            throw ex;
        }
    }

    /** Observes the send of one message until its future completes. */
    public CompletableFuture<SendResult> sendAsync(DelayedMessage message,
            Function<DelayedMessage, CompletableFuture<SendResult>> call) {
        if (this.registry.isNoop()) {
            return call.apply(message);
        }
        Sending sending = start(message.queue(), 1);
        CompletableFuture<SendResult> answer;
        try (FailSafeObservationScope scope = FailSafeObservationScope.of(this.registry, sending.observation())) {
            answer = call.apply(sending.mark(message));
        }
        catch (RuntimeException | Error ex) {
            sending.end(ex);
            throw ex;
        }
        answer.whenComplete((result, failure) -> {
            if (result != null) {
                sending.context().result(result);
            }
            sending.end(failure);
        });
        return answer;
    }

    /** Observes a batch, as one send for each queue. */
    public List<SendResult> sendAll(Collection<DelayedMessage> messages,
            Function<Collection<DelayedMessage>, List<SendResult>> call) {
        if (this.registry.isNoop()) {
            return call.apply(messages);
        }
        Map<QueueName, Sending> sendings = new LinkedHashMap<>();
        messages.stream()
            .collect(Collectors.groupingBy(DelayedMessage::queue, LinkedHashMap::new, Collectors.counting()))
            .forEach((queue, count) -> sendings.put(queue, start(queue, count.intValue())));
        try {
            List<DelayedMessage> marked = new ArrayList<>(messages.size());
            messages.forEach((message) -> marked.add(markOf(sendings, message)));
            List<SendResult> results = call.apply(marked);
            sendings.values().forEach((sending) -> sending.end(null));
            return results;
        }
        catch (RuntimeException | Error ex) {
            sendings.forEach((queue, sending) -> sending.end(isOf(queue, ex) ? ex : null));
            throw ex;
        }
    }

    /** Returns whether messages of a queue are not stored, or may not be. */
    private static boolean isOf(QueueName queue, Throwable failure) {
        return !(failure instanceof BatchSendException batch)
                || Stream.concat(batch.notStored().stream(), batch.unknown().stream())
                    .anyMatch((message) -> message.queue().equals(queue));
    }

    private static DelayedMessage markOf(Map<QueueName, Sending> sendings, DelayedMessage message) {
        Sending sending = sendings.get(message.queue());
        return (sending != null) ? sending.mark(message) : message;
    }

    private Sending start(QueueName queue, int messages) {
        SendObservationContext context = new SendObservationContext(queue, messages);
        return new Sending(context,
                started(() -> DelayQueueObservation.SEND.observation(this.send, SEND, () -> context, this.registry)));
    }

    /** Returns whether handlers are observed at all. */
    public boolean observesHandlers() {
        return !this.registry.isNoop();
    }

    /**
     * Observes a handler.
     * @param deliveries the messages that it receives, at least one
     * @param headers the headers of these messages, in the same order
     * @param handler returns the end of the handling; {@code null} if it has ended
     * @return the result of {@code handler}
     */
    public @Nullable CompletionStage<?> handle(List<Delivery> deliveries, String listener,
            List<Map<String, String>> headers, Handler handler) throws Throwable {
        HandleObservationContext context = new HandleObservationContext(deliveries, listener, headers);
        Observation observation = started(
                () -> DelayQueueObservation.HANDLE.observation(this.handle, HANDLE, () -> context, this.registry));
        CompletionStage<?> stage;
        try (FailSafeObservationScope scope = FailSafeObservationScope.of(this.registry, observation)) {
            stage = handler.call();
        }
        catch (Throwable ex) {
            end(observation, ex);
            throw ex;
        }
        if (stage == null) {
            end(observation, null);
            return null;
        }
        // Returned unchanged: a caller that cancels it means the handler's own future.
        stage.whenComplete((result, failure) -> end(observation, failure));
        return stage;
    }

    /**
     * Starts an observation. A failing predicate or observation handler does not prevent
     * the observed operation.
     */
    private static Observation started(Supplier<Observation> made) {
        try {
            return made.get().start();
        }
        catch (RuntimeException ex) {
            logger.warn("An observation could not be started; the observed operation continues without it", ex);
            return Observation.NOOP;
        }
    }

    private static void end(Observation observation, @Nullable Throwable failure) {
        try {
            if (failure != null) {
                observation.error(failure);
            }
        }
        catch (RuntimeException ex) {
            logger.warn("Cannot record the failure in an observation", ex);
        }
        try {
            observation.stop();
        }
        catch (RuntimeException ex) {
            logger.warn("An observation could not be ended", ex);
        }
    }

    /** Calls a handler with its arguments. */
    @FunctionalInterface
    public interface Handler {

        /**
         * Calls the handler.
         * @return completes when the handling ends; {@code null} if it has ended
         * @throws Throwable the exception of the handler
         */
        @Nullable CompletionStage<?> call() throws Throwable;

    }

    /**
     * Holds an observed send.
     *
     * @param context the context of the observation
     * @param observation the started observation
     */
    private record Sending(SendObservationContext context, Observation observation) {

        /** Adds the trace to the headers, if there is one and it fits. */
        DelayedMessage mark(DelayedMessage message) {
            Map<String, String> trace = this.context.getCarrier();
            if (trace == null || trace.isEmpty()) {
                return message;
            }
            DelayedMessage.Builder marked = message.toBuilder();
            try {
                trace.forEach(marked::header);
                return marked.header(SentAtHeader.HEADER, SentAtHeader.now()).build();
            }
            catch (IllegalArgumentException ex) {
                logger.debug("A message for queue '{}' has no room for its trace", message.queue(), ex);
                return message;
            }
        }

        void end(@Nullable Throwable failure) {
            MessageObservations.end(this.observation, failure);
        }

    }

}
