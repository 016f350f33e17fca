package io.delayqueue.listener.poll;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.delayqueue.HandlerTimeoutException;
import io.delayqueue.listener.handler.CancellableStage;
import io.delayqueue.listener.handler.HandlerOutcomeUnknownException;
import io.delayqueue.listener.handler.HandlerUnavailableException;
import io.delayqueue.listener.handler.MessageHandler;
import io.delayqueue.store.MessageEventRecorder.HandlerOutcome;
import io.delayqueue.store.StoreFailures;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Processes the messages that one call of a handler receives: decides which of them may
 * be handled, calls the handler, and decides how each is settled. Handling and settling
 * are separate, so that a failure of the store does not count as a failure of the
 * handler.
 * <p>
 * <strong>Threads.</strong> Runs on the handler thread of each task, which waits here for
 * the store; if the handler returned a future, another thread settles. Stateless.
 */
final class DeliveryProcessor {

    private static final Logger logger = LoggerFactory.getLogger(DeliveryProcessor.class);

    private final PartitionBinding binding;

    private final PollLoopContext context;

    private final MessageSettler settler;

    private final FailurePolicy failures;

    private final HandlerAdmission admission;

    private final BiConsumer<HandlerTask, List<InFlightMessage>> onEnd;

    private final SafeTaskDecorator decorator;

    /**
     * Creates a processor.
     * @param onEnd receives each task once, when its handler has ended, with those of its
     * messages that are to be acknowledged; the others are settled or left to their
     * leases
     */
    DeliveryProcessor(PartitionBinding binding, PollLoopContext context,
            BiConsumer<HandlerTask, List<InFlightMessage>> onEnd) {
        this.binding = binding;
        this.context = context;
        this.settler = new MessageSettler(binding, context);
        this.failures = new FailurePolicy(binding);
        this.admission = new HandlerAdmission(binding, context, this.settler, this.failures);
        this.onEnd = onEnd;
        this.decorator = context.decorator();
    }

    /** Handles and settles the messages of a task. */
    void process(HandlerTask task) {
        this.binding.counters().running.addAndGet(task.size());
        for (InFlightMessage inFlight : task.messages()) {
            if (inFlight.message().redelivered()) {
                this.binding.redelivered();
            }
        }
        runAndFinish(task, () -> decorated(task));
    }

    private @Nullable List<InFlightMessage> decorated(HandlerTask task) {
        AtomicReference<@Nullable List<InFlightMessage>> end = new AtomicReference<>();
        Throwable failure = this.decorator.run(() -> end.setPlain(endOf(task, () -> handle(task))));
        return (failure != null) ? undecorated(task, failure) : end.getPlain();
    }

    /**
     * Runs work that ends a task.
     * @param work returns the messages to acknowledge; {@code null} if the future of the
     * handler ends the task
     */
    private void runAndFinish(HandlerTask task, Supplier<@Nullable List<InFlightMessage>> work) {
        List<InFlightMessage> handled = List.of();
        DeliveryScope scope = DeliveryScope.enter(task);
        try {
            handled = endOf(task, work);
        }
        finally {
            scope.leave();
        }
        if (handled != null) {
            this.context.executor().handlerEnded(task);
            this.binding.counters().running.addAndGet(-task.size());
            this.onEnd.accept(task, handled);
        }
    }

    private static @Nullable List<InFlightMessage> endOf(HandlerTask task,
            Supplier<@Nullable List<InFlightMessage>> work) {
        try {
            return work.get();
        }
        catch (Throwable ex) {
            logger.error("Cannot process {}; to be handled again when a lease runs out", task, ex);
            return List.of();
        }
    }

    private @Nullable List<InFlightMessage> handle(HandlerTask task) {
        List<Admitted> admitted = this.admission.admit(task);
        if (admitted.isEmpty()) {
            return List.of();
        }
        List<InFlightMessage> messages = (task.size() == 1) ? task.messages()
                : admitted.stream().map(Admitted::inFlight).toList();
        HandlerCall running = HandlerCall.start(this.binding, messages, this.context);
        task.startedBy(running);
        return call(new Handling(task, admitted, running));
    }

    /** Counts as a failure, or the messages might never be dead-lettered. */
    private List<InFlightMessage> undecorated(HandlerTask task, Throwable failure) {
        for (InFlightMessage inFlight : task.messages()) {
            isolated(inFlight, () -> failUndecorated(inFlight, failure));
        }
        return List.of();
    }

    private boolean failUndecorated(InFlightMessage inFlight, Throwable failure) {
        if (inFlight.isLive(this.context.now())) {
            this.binding.counters().failed.increment();
            failed(inFlight, new DefaultDelivery(inFlight, this.binding, this.context), failure);
        }
        else {
            this.settler.releaseLate(inFlight);
        }
        return false;
    }

    private @Nullable List<InFlightMessage> call(Handling handling) {
        this.context.executor().handlerStarted(handling.task(), handling.running());
        CompletionStage<?> stage = null;
        Throwable failure = null;
        try {
            stage = callOf(handling.admitted()).invoke(continuations(handling.task()));
        }
        catch (Throwable ex) {
            // Errors count, or a handler that fails to link would be retried forever.
            failure = ex;
        }
        finally {
            handling.running().returned();
            // An interrupt was meant for the handler, not for the code that follows.
            Thread.interrupted();
        }
        return (stage != null) ? await(handling, stage) : complete(handling, failure);
    }

    private MessageHandler.Call callOf(List<Admitted> admitted) throws Exception {
        MessageHandler handler = this.binding.handler();
        return handler.isBatch() ? handler.combine(admitted.stream().map(Admitted::call).toList())
                : admitted.get(0).call();
    }

    /** Returns an executor that runs parts of the handling in the context of the task. */
    private Executor continuations(HandlerTask task) {
        return (part) -> this.context.runOnHandlerThread(() -> {
            DeliveryScope scope = DeliveryScope.enter(task);
            try {
                part.run();
            }
            finally {
                scope.leave();
            }
        });
    }

    private @Nullable List<InFlightMessage> await(Handling handling, CompletionStage<?> stage) {
        CompletableFuture<@Nullable Object> ended = new CompletableFuture<>();
        stage.whenComplete((result, ex) -> {
            if (ex != null) {
                ended.completeExceptionally(ex);
            }
            else {
                ended.complete(null);
            }
        });
        boolean cancellable = stage instanceof CancellableStage;
        // The timer and the application's threads must not wait for the store.
        handling.running()
            .cancelBy(() -> this.context.runOnHandlerThread(() -> cancel(handling.task(), stage, ended)), cancellable);
        if (ended.isDone()) {
            return complete(handling, failureOf(ended));
        }
        ended.whenComplete((result, ex) -> this.context
            .runOnHandlerThread(() -> runAndFinish(handling.task(), () -> complete(handling, failureOf(ended)))));
        return null;
    }

    private static void cancel(HandlerTask task, CompletionStage<?> stage, CompletableFuture<?> ended) {
        if (stage instanceof CancellableStage cancellable) {
            try {
                cancellable.requestCancellation();
            }
            catch (Throwable ex) {
                logger.warn("The cancellation of the handler of {} failed; it may continue without a lease", task, ex);
            }
            return;
        }
        // A future does not show when its work has ended.
        ended.completeExceptionally(new InterruptedException("Cancelled by the handler's timeout"));
        try {
            stage.toCompletableFuture().cancel(true);
        }
        catch (UnsupportedOperationException ex) {
            logger.debug("The future of a handler cannot be cancelled; the handler continues without a lease");
        }
    }

    private static @Nullable Throwable failureOf(CompletableFuture<?> ended) {
        try {
            ended.join();
            return null;
        }
        catch (RuntimeException ex) {
            return StoreFailures.unwrap(ex);
        }
    }

    /**
     * Settles the messages after the end of their handler.
     * @return those to acknowledge
     */
    private List<InFlightMessage> complete(Handling handling, @Nullable Throwable failure) {
        boolean timedOut = handling.running().end();
        long nanos = (this.context.now() - handling.running().startedAt()) / handling.admitted().size();
        boolean unavailable = failure instanceof HandlerUnavailableException
                || failure instanceof HandlerOutcomeUnknownException;
        Throwable cause = (failure != null && timedOut && !unavailable) ? timeoutException(failure) : failure;
        if (handling.admitted().size() == 1 && handling.task().size() == 1) {
            return settle(handling, handling.admitted().get(0), cause, nanos) ? handling.task().messages() : List.of();
        }
        return handling.admitted()
            .stream()
            .filter((each) -> isolated(each.inFlight(), () -> settle(handling, each, cause, nanos)))
            .map(Admitted::inFlight)
            .toList();
    }

    /**
     * Settles a message of a batch. If that fails, because an exception of the handler
     * cannot be printed for example, the other messages are settled all the same.
     * @return {@code false} if it fails
     */
    private static boolean isolated(InFlightMessage inFlight, BooleanSupplier settlement) {
        try {
            return settlement.getAsBoolean();
        }
        catch (Throwable ex) {
            logger.error("Cannot settle message '{}' of queue '{}'; to be handled again when its lease runs out",
                    inFlight.lease().id(), inFlight.lease().queue(), ex);
            return false;
        }
    }

    /** Settles a message, unless it is to be acknowledged; then returns {@code true}. */
    private boolean settle(Handling handling, Admitted message, @Nullable Throwable cause, long nanos) {
        boolean decides = cause == null || this.binding.handler().isBatch();
        DefaultDelivery.Decision decision = decides ? message.delivery().decision() : null;
        Throwable error = (decision instanceof DefaultDelivery.FailDecision fail) ? fail.error()
                : (decision == null) ? cause : null;
        if (error != null) {
            settleFailed(message, error, handling.running(), nanos);
            return false;
        }
        this.binding.handled(HandlerOutcome.SUCCESS, nanos);
        if (decision instanceof DefaultDelivery.ReleaseDecision release) {
            this.settler.release(message.inFlight(), release.delay());
            return false;
        }
        if (decision instanceof DefaultDelivery.DeadLetterDecision deadLetter) {
            this.settler.deadLetter(message.inFlight(), deadLetter.reason());
            return false;
        }
        return true;
    }

    private void settleFailed(Admitted each, Throwable error, HandlerCall running, long nanos) {
        InFlightMessage inFlight = each.inFlight();
        if (running.isStopped() || running.isLeaseLost()) {
            logger.warn(
                    "The handler of message '{}' of queue '{}' {} on attempt {}; the message is released and the "
                            + "attempt does not count: {}",
                    inFlight.lease().id(), inFlight.lease().queue(),
                    running.isStopped() ? "outlived the shutdown timeout and was interrupted"
                            : "was cancelled after the end of its lease",
                    inFlight.attempt(), FailureSummary.line(error));
            this.settler.release(inFlight, Duration.ZERO);
        }
        else if (error instanceof HandlerUnavailableException unavailable) {
            this.settler.releaseUnavailable(inFlight, unavailable);
        }
        else if (error instanceof HandlerOutcomeUnknownException) {
            logger
                .warn("The handler of message '{}' of queue '{}' has ended in an unknown way; it is handled again when "
                        + "its lease runs out", inFlight.lease().id(), inFlight.lease().queue(), error);
        }
        else {
            this.binding.handled(
                    (error instanceof HandlerTimeoutException) ? HandlerOutcome.TIMEOUT : HandlerOutcome.FAILURE,
                    nanos);
            failed(inFlight, each.delivery(), error);
        }
    }

    private void failed(InFlightMessage inFlight, DefaultDelivery delivery, Throwable failure) {
        this.settler.failed(inFlight, this.failures.ofFailure(delivery, failure), failure);
    }

    private Throwable timeoutException(Throwable failure) {
        Duration timeout = this.binding.settings().timeout();
        HandlerTimeoutException exception = new HandlerTimeoutException((timeout != null) ? timeout : Duration.ZERO);
        exception.addSuppressed(failure);
        return exception;
    }

    /** Holds a message that its handler receives. */
    record Admitted(InFlightMessage inFlight, DefaultDelivery delivery, MessageHandler.Call call) {
    }

    /** Holds a handler that is running. */
    private record Handling(HandlerTask task, List<Admitted> admitted, HandlerCall running) {
    }

}
