package io.delayqueue.template;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.MessageLimits;
import io.delayqueue.NotReplicatedException;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.MessageGroupChangeException;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.UnreadableScheduleException;

/**
 * Waits for the store's answers, and converts its failures into exceptions with the stack
 * trace of the caller and the cause of the original. Thread-safe.
 */
final class BlockingStoreCalls {

    private final Duration waitLimit;

    BlockingStoreCalls(Duration waitLimit) {
        this.waitLimit = waitLimit;
    }

    /**
     * Waits for an answer. An interrupt ends the wait but not the call: the flag stays
     * set, and the effect of the call is unknown.
     * @param operation the operation, for exception messages
     */
    <T> T await(CompletableFuture<T> answer, String operation) {
        return await(answer, operation, System.nanoTime());
    }

    /**
     * Waits for one of several answers.
     * @param begin when the wait for all of them started
     */
    <T> T await(CompletableFuture<T> answer, String operation, long begin) {
        try {
            return awaitInterruptibly(answer, operation, begin);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new StoreUnavailableException(
                    "Interrupted while waiting for the store to answer '%s'; it may or may not have taken effect"
                        .formatted(operation),
                    Effect.UNKNOWN, ex);
        }
    }

    /** Returns whether the time limit of an answer has passed since {@code begin}. */
    boolean isLimitPassed(long begin) {
        return System.nanoTime() - begin > this.waitLimit.toNanos();
    }

    /** Like {@link #await}, for callers that handle an interrupt and may wait again. */
    <T> T awaitInterruptibly(CompletableFuture<T> answer, String operation, long begin) throws InterruptedException {
        try {
            return answer.get(Math.max(0, this.waitLimit.toNanos() - (System.nanoTime() - begin)),
                    TimeUnit.NANOSECONDS);
        }
        catch (ExecutionException | CancellationException ex) {
            throw raised(ex, operation);
        }
        catch (TimeoutException ex) {
            throw new StoreUnavailableException(
                    "No answer from the store to '%s' within %d ms; it may or may not have taken effect"
                        .formatted(operation, this.waitLimit.toMillis()),
                    Effect.UNKNOWN, ex);
        }
    }

    /**
     * Makes a call for each message concurrently, and waits for all answers.
     * @param ids the ids of the messages
     * @return the answers, in the order of {@code ids}
     */
    <T> Map<String, T> awaitEach(Collection<String> ids, String operation,
            Function<String, CompletableFuture<T>> call) {
        Set<String> each = new LinkedHashSet<>(ids);
        if (each.size() > DelayQueueOperations.MAX_IDS) {
            throw new IllegalArgumentException(
                    "%d ids are too many: use at most %d".formatted(each.size(), DelayQueueOperations.MAX_IDS));
        }
        each.forEach(MessageLimits::requireId);
        Iterator<T> answers = awaitAll(each, operation, call).iterator();
        Map<String, T> answersById = new LinkedHashMap<>();
        each.forEach((id) -> answersById.put(id, answers.next()));
        return Collections.unmodifiableMap(answersById);
    }

    /**
     * Makes a call for each value concurrently, and waits for all answers. With a
     * blocking client the calls run one after another: no further call is made after a
     * failure, or after the time limit of a single answer has passed.
     * @return the answers, in the order of {@code values}
     */
    <V, T> List<T> awaitAll(Collection<V> values, String operation, Function<V, CompletableFuture<T>> call) {
        List<CompletableFuture<T>> answers = new ArrayList<>(values.size());
        try {
            callEach(values, operation, call, answers);
            return answers.stream().map((answer) -> await(answer, operation)).toList();
        }
        catch (StoreUnavailableException | StoreRefusedException ex) {
            throw (RuntimeException) StoreFailures.ofAll(answers, ex);
        }
    }

    private <V, T> void callEach(Collection<V> values, String operation, Function<V, CompletableFuture<T>> call,
            List<CompletableFuture<T>> answers) {
        long begin = System.nanoTime();
        for (V value : values) {
            if (isLimitPassed(begin)) {
                throw new StoreUnavailableException(
                        "The store was asked to '%s' %d of %d messages within %d ms; that may have taken effect"
                            .formatted(operation, answers.size(), values.size(), this.waitLimit.toMillis()),
                        Effect.UNKNOWN, null);
            }
            CompletableFuture<T> answer = call.apply(value);
            if (answer.isCompletedExceptionally()) {
                await(answer, operation);
            }
            answers.add(answer);
        }
    }

    /** Returns the failure of a future for the caller, without its wrappers. */
    static RuntimeException unwrap(Throwable failure, String operation) {
        Throwable cause = StoreFailures.unwrap(failure);
        if (cause instanceof DelayQueueException || cause instanceof IllegalArgumentException) {
            return (RuntimeException) cause;
        }
        // A defect of the store, so the effect is unknown.
        return new StoreUnavailableException(
                "The store failed to answer '%s'; it may or may not have taken effect: %s".formatted(operation, cause),
                Effect.UNKNOWN, cause);
    }

    /** Returns a copy of the failure with the stack trace of the current thread. */
    static RuntimeException raised(Throwable failure, String operation) {
        RuntimeException cause = unwrap(failure, operation);
        String message = String.valueOf(cause.getMessage());
        if (cause instanceof StoreUnavailableException unavailable) {
            return new StoreUnavailableException(message, unavailable.effect(), StoreFailures.beneath(cause));
        }
        if (cause instanceof MessageGroupChangeException change) {
            return new MessageGroupChangeException(change, StoreFailures.beneath(cause));
        }
        if (cause instanceof UnreadableScheduleException) {
            return new UnreadableScheduleException(message, StoreFailures.beneath(cause));
        }
        if (cause instanceof StoreRefusedException refused) {
            return new StoreRefusedException(message, refused.effect(), StoreFailures.beneath(cause));
        }
        if (cause instanceof NotReplicatedException) {
            return new NotReplicatedException(message, StoreFailures.beneath(cause));
        }
        if (cause instanceof PayloadConversionException) {
            return new PayloadConversionException(message, StoreFailures.beneath(cause));
        }
        return (cause instanceof IllegalArgumentException) ? new IllegalArgumentException(message, cause) : cause;
    }

}
