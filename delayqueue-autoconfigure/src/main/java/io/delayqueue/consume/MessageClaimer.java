package io.delayqueue.consume;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.PayloadConversionException;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Partition;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.UnstartedLease;
import io.delayqueue.store.routing.PartitionRouter;
import io.delayqueue.store.routing.StoreComponents;
import org.jspecify.annotations.Nullable;

/**
 * Claims messages of one partition for a {@link QueuePoller}. Leaves out messages that
 * are dead-lettered, whose lease was lost, or that were claimed too late, and releases
 * those that arrive after their caller stopped waiting. If the client itself gave up the
 * claim, as Lettuce does at its command timeout, the lease is not known and lapses.
 * Thread-safe; never waits for the store.
 *
 * @param <M> the form in which callers get messages
 */
public final class MessageClaimer<M> {

    /** Claims of a poll that return no message before those whose time is over leave. */
    static final int MAX_EMPTY_CLAIMS = MessageStore.BATCH_LIMIT;

    private final MessageStore store;

    private final PartitionRouter router;

    private final LeaseSettler settler;

    private final Supplier<CompletableFuture<Reader<M>>> readers;

    private final Duration answerLimit;

    private final LongSupplier nanoTime;

    /**
     * Creates a claimer.
     * @param readers returns the reader for the messages of a claim, before that is sent
     * @param answerLimit longest wait for an answer of the store; longer than the store's
     * own time limit, which normally applies first
     */
    public MessageClaimer(StoreComponents components, LeaseSettler settler,
            Supplier<CompletableFuture<Reader<M>>> readers, Duration answerLimit, LongSupplier nanoTime) {
        this.store = components.messages();
        this.router = new PartitionRouter(components);
        this.settler = settler;
        this.readers = readers;
        this.answerLimit = answerLimit;
        this.nanoTime = nanoTime;
    }

    public long now() {
        return this.nanoTime.getAsLong();
    }

    /**
     * Returns the partitions that may hold messages of a queue, by this layout version or
     * a later one.
     */
    CompletableFuture<List<Partition>> partitions(QueueName queue, int version, PollerExecutor thread) {
        return limited("partitions", thread, () -> thread.call(() -> this.router.all(queue, version)), (late) -> {
        });
    }

    /** Claims for a request. */
    CompletableFuture<Batch<M>> claim(Partition partition, WaitingClaim<M> request, ConsumeSettings settings,
            PollerExecutor thread) {
        return limited("claim", thread,
                () -> thread.call(this.readers)
                    .thenCompose((reader) -> thread.call(() -> claim(partition, request.limit(),
                            new Claim<>(settings, reader, thread, new Term(now(), request.lease()))))),
                (late) -> releaseUnseen(late.leases(), thread));
    }

    private CompletableFuture<Batch<M>> claim(Partition partition, int limit, Claim<M> claim) {
        ConsumeSettings settings = claim.settings();
        CompletableFuture<Batch<M>> batch = new CompletableFuture<>();
        this.store
            .claim(partition,
                    new ClaimRequest(limit, claim.term().lease(), settings.expiryPolicy(), null, settings.lease()))
            .whenComplete((result, failure) -> {
                if (failure != null) {
                    batch.completeExceptionally(failure);
                }
                else {
                    read(partition, result, claim, batch);
                }
            });
        return batch;
    }

    private void read(Partition partition, ClaimResult result, Claim<M> claim, CompletableFuture<Batch<M>> batch) {
        try {
            if (!claim.thread().read(() -> accept(partition, result, claim, batch))) {
                CompletableFuture.runAsync(() -> report(partition, result, claim));
                releaseUnseen(leases(result), claim.thread());
                batch.complete(new Batch<>(result, List.of(), List.of()));
            }
        }
        catch (Throwable ex) {
            fail(result, ex, claim, batch);
        }
    }

    private void accept(Partition partition, ClaimResult result, Claim<M> claim, CompletableFuture<Batch<M>> batch) {
        try {
            report(partition, result, claim);
            List<CompletableFuture<Outcome<M>>> all = result.messages()
                .stream()
                .map((message) -> accept(message, result.now(), claim))
                .toList();
            CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new)).whenComplete((done, failure) -> {
                if (failure != null) {
                    fail(result, failure, claim, batch);
                }
                else {
                    complete(result, all.stream().map(CompletableFuture::join).toList(), batch);
                }
            });
        }
        catch (Throwable ex) {
            fail(result, ex, claim, batch);
        }
    }

    /** Reports the changes that a claim has made, even if no caller gets its messages. */
    private void report(Partition partition, ClaimResult result, Claim<M> claim) {
        this.router.onVersion(partition, result.partitionsVersion());
        this.settler.report(partition.queue(), result, claim.settings().expiryPolicy());
    }

    /**
     * Completes a claim with the messages for the caller. If there are none because the
     * store failed, the claim fails, so that the next one is delayed.
     */
    private static <M> void complete(ClaimResult result, List<Outcome<M>> outcomes, CompletableFuture<Batch<M>> batch) {
        List<M> accepted = new ArrayList<>();
        List<UnstartedLease> leases = new ArrayList<>();
        Throwable failure = null;
        for (int i = 0; i < outcomes.size(); i++) {
            Outcome<M> outcome = outcomes.get(i);
            if (outcome.message() != null) {
                accepted.add(outcome.message());
                leases.add(result.messages().get(i).unstartedLease());
            }
            else if (failure == null) {
                failure = outcome.failure();
            }
        }
        if (accepted.isEmpty() && failure != null) {
            batch.completeExceptionally(StoreFailures.unwrap(failure));
        }
        else {
            batch.complete(new Batch<>(result, accepted, leases));
        }
    }

    /** Fails a claim whose messages the caller will not get, and releases these. */
    private void fail(ClaimResult result, Throwable failure, Claim<M> claim, CompletableFuture<Batch<M>> batch) {
        try {
            releaseUnseen(leases(result), claim.thread());
        }
        finally {
            batch.completeExceptionally(failure);
        }
    }

    private static List<UnstartedLease> leases(ClaimResult result) {
        return result.messages().stream().map(ClaimedMessage::unstartedLease).toList();
    }

    /**
     * Returns the outcome of a message. Dead-letters a message that cannot be read. A
     * message that cannot be settled is left out, so that the caller gets the others: one
     * whose start is not recorded is released, and one that is not dead-lettered is left
     * to its lease.
     */
    private CompletableFuture<Outcome<M>> accept(ClaimedMessage message, Instant now, Claim<M> claim) {
        try {
            String cause = message.deadLetterCause(claim.settings().maxLapses(), claim.settings().maxAttempts());
            return (cause != null) ? deadLetter(message, cause, claim)
                    : start(message, read(message, claim), now, claim);
        }
        catch (PayloadConversionException ex) {
            return deadLetter(message, String.valueOf(ex.getMessage()), claim);
        }
        catch (Throwable ex) {
            // An Error, too: nothing else would complete the claim.
            return CompletableFuture.failedFuture(ex);
        }
    }

    /**
     * Reads a message. Any failure of the codec fails this message alone, and each time:
     * released, it would block the others. Lack of memory is no failure of the message.
     */
    private static <M> M read(ClaimedMessage message, Claim<M> claim) {
        try {
            return claim.reader().read(message, claim.term());
        }
        catch (PayloadConversionException | OutOfMemoryError ex) {
            throw ex;
        }
        catch (Throwable ex) {
            throw new PayloadConversionException(ex.getClass().getName() + ": The codec failed to read the message",
                    ex);
        }
    }

    private CompletableFuture<Outcome<M>> start(ClaimedMessage message, M read, Instant now, Claim<M> claim) {
        if (!message.redelivered()) {
            return CompletableFuture.completedFuture(inTime(message, read, now, claim));
        }
        return this.settler.start(message.lease()).handle((started, failure) -> {
            if (failure != null) {
                releaseUnseen(List.of(message.unstartedLease()), claim.thread());
                return new Outcome<>(null, failure);
            }
            return started ? inTime(message, read, now, claim) : Outcome.leftOut();
        });
    }

    private CompletableFuture<Outcome<M>> deadLetter(ClaimedMessage message, String cause, Claim<M> claim) {
        return this.settler.deadLetter(message, cause, (publication) -> {
            if (!claim.thread().read(publication)) {
                CompletableFuture.runAsync(publication);
            }
        }).handle((done, failure) -> new Outcome<>(null, failure));
    }

    private Outcome<M> inTime(ClaimedMessage message, M read, Instant now, Claim<M> claim) {
        long elapsed = now() - claim.term().sent();
        Instant expiresAt = message.expiresAt();
        boolean expired = expiresAt != null && !now.plusNanos(elapsed).isBefore(expiresAt);
        if (expired || claim.term().left(now()).toNanos() <= 0) {
            releaseUnseen(List.of(message.unstartedLease()), claim.thread());
            return Outcome.leftOut();
        }
        return new Outcome<>(read, null);
    }

    /**
     * Releases messages that their caller will not see, without counting an attempt.
     * @return completes when they are released; does not fail
     */
    public CompletableFuture<Void> releaseUnseen(List<UnstartedLease> leases, PollerExecutor thread) {
        return CompletableFuture.allOf(leases.stream()
            .collect(Collectors.groupingBy((due) -> due.lease().partition()))
            .values()
            .stream()
            .map((some) -> thread.call(() -> this.settler.releaseUnseen(some)))
            .toArray(CompletableFuture<?>[]::new));
    }

    /**
     * Makes a call, and fails if it is not answered within the limit.
     * @param late receives an answer that comes after that
     */
    private <T> CompletableFuture<T> limited(String operation, PollerExecutor thread,
            Supplier<CompletableFuture<T>> call, Consumer<T> late) {
        CompletableFuture<T> limited = new CompletableFuture<>();
        Runnable cancel = thread.schedule(
                () -> limited.completeExceptionally(new StoreUnavailableException(
                        "No answer from the store to '%s' within %d ms; it may or may not have taken effect"
                            .formatted(operation, this.answerLimit.toMillis()),
                        Effect.UNKNOWN, null)),
                this.answerLimit.toNanos());
        call.get().whenComplete((answer, failure) -> {
            cancel.run();
            if (failure != null) {
                limited.completeExceptionally(failure);
            }
            else if (!limited.complete(answer)) {
                late.accept(answer);
            }
        });
        return limited;
    }

    /**
     * Converts claimed messages for their callers.
     *
     * @param <M> the form in which callers get messages
     */
    @FunctionalInterface
    public interface Reader<M> {

        /**
         * Returns the message as its caller gets it.
         * @throws PayloadConversionException if no caller could read it: it is
         * dead-lettered with the message of this exception as the cause
         */
        M read(ClaimedMessage message, Term term);

    }

    /**
     * Holds the time of a lease.
     *
     * @param sent when the claim was sent, on the monotonic clock
     * @param lease its duration, from then on
     */
    public record Term(long sent, Duration lease) {

        /** Returns the rest of the lease at this time of the monotonic clock. */
        public Duration left(long now) {
            return this.lease.minusNanos(now - this.sent);
        }

    }

    /**
     * Holds the result of a claim.
     *
     * @param claim the answer of the store
     * @param messages the messages for the caller
     * @param leases their leases
     */
    record Batch<M>(ClaimResult claim, List<M> messages, List<UnstartedLease> leases) {

        /** Returns whether another claim of the partition may find something now. */
        boolean mayLeaveMore() {
            boolean removed = this.claim.expired() > 0 || !this.claim.deadLettered().isEmpty();
            Duration nextIn = this.claim.nextIn();
            return !this.claim.messages().isEmpty() || (removed && nextIn != null && nextIn.isZero());
        }

    }

    /**
     * Holds what became of a claimed message.
     *
     * @param message the message for the caller; {@code null} if it is left out
     * @param failure why its start could not be recorded, or why it could not be
     * dead-lettered; {@code null} if not tried, or answered
     */
    private record Outcome<M>(@Nullable M message, @Nullable Throwable failure) {

        static <M> Outcome<M> leftOut() {
            return new Outcome<>(null, null);
        }

    }

    /**
     * Holds what the messages of a claim have in common.
     *
     * @param settings those of the queue
     * @param reader converts the messages
     * @param thread that of the poller
     * @param term the time of the leases
     */
    private record Claim<M>(ConsumeSettings settings, Reader<M> reader, PollerExecutor thread, Term term) {
    }

}
