package io.delayqueue.consume;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.delayqueue.QueueName;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterPublisher;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.ExpiredMessagesLogs;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.RecentLeases;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.Texts;
import io.delayqueue.store.UnstartedLease;
import io.delayqueue.store.routing.StoreComponents;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acknowledges, extends, releases, retries and dead-letters claimed messages for
 * consumers that are not listeners, and counts lost leases, each once. Every call returns
 * {@code false} if the lease was no longer held. Thread-safe; never waits for the store.
 */
public final class LeaseSettler {

    private static final Logger logger = LoggerFactory.getLogger(LeaseSettler.class);

    private static final int MAX_CAUSE = 4000;

    /**
     * Replaces an empty failure, which stores return as one that is not known, and an
     * empty cause of a dead letter.
     */
    private static final String NO_REASON = "The handler gave no reason";

    private static final String UNCONFIRMED = " (the reply was lost; logged again if it was not stored)";

    private final MessageStore store;

    private final MessageEventRecorderFactory events;

    private final DeadLetterPublisher publisher;

    /** The last leases that this process has settled, or whose loss it has counted. */
    private final RecentLeases ended = new RecentLeases();

    private final ExpiredMessagesLogs expirations = new ExpiredMessagesLogs(System::nanoTime);

    public LeaseSettler(StoreComponents components, DeadLetterPublisher publisher) {
        this.store = components.messages();
        this.events = components.events();
        this.publisher = publisher;
    }

    /** Records the start of a redelivered message. */
    CompletableFuture<Boolean> start(Lease lease) {
        return this.store.start(lease).thenApply((recorded) -> countIfLost(lease, recorded));
    }

    public CompletableFuture<Boolean> acknowledge(Lease lease) {
        return first(lease, this.store.acknowledge(lease.partition(), List.of(lease)));
    }

    /**
     * Acknowledges leases of any partitions, each once.
     * @return whether each was held; a failure is without effect only if every partition
     * failed without effect
     */
    public CompletableFuture<Map<Lease, Boolean>> acknowledgeAll(List<Lease> leases) {
        Map<Lease, Boolean> settled = new ConcurrentHashMap<>();
        List<CompletableFuture<Void>> answers = leases.stream()
            .distinct()
            .collect(Collectors.groupingBy(Lease::partition))
            .values()
            .stream()
            .map((some) -> this.store.acknowledge(some.get(0).partition(), some)
                .thenAccept((all) -> IntStream.range(0, some.size())
                    .forEach((i) -> settled.put(some.get(i), ended(some.get(i), all.get(i))))))
            .toList();
        return CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new)).handle((done, failure) -> {
            if (failure != null) {
                throw new CompletionException(StoreFailures.ofAll(answers, StoreFailures.unwrap(failure)));
            }
            return settled;
        });
    }

    public CompletableFuture<Boolean> extend(Lease lease, Duration leaseTime) {
        return this.store.extend(lease.partition(), List.of(lease), leaseTime)
            .thenApply((all) -> countIfLost(lease, all.get(0)));
    }

    /** Returns whether a lease is held, without extending one that lasts longer. */
    public CompletableFuture<Boolean> isLive(Lease lease, Duration shortest) {
        return this.store.extend(lease.partition(), List.of(lease), shortest).thenApply((all) -> all.get(0));
    }

    public CompletableFuture<Boolean> release(Lease lease, Duration delay) {
        return first(lease, this.store.release(lease.partition(), List.of(lease), delay));
    }

    /** Releases a lease to the due time of its attempt. */
    public CompletableFuture<Boolean> release(UnstartedLease due) {
        return first(due.lease(), this.store.release(due.lease().partition(), List.of(due)));
    }

    private CompletableFuture<Boolean> first(Lease lease, CompletableFuture<List<Boolean>> answer) {
        return answer.thenApply((all) -> ended(lease, all.get(0)));
    }

    /** Retries a message, which counts another failure. Does not count the retry. */
    public CompletableFuture<Boolean> retry(Lease lease, Duration delay, String failure) {
        String reason = failure.isBlank() ? NO_REASON : Texts.cut(failure, MessageStore.MAX_FAILURE);
        return this.store.retry(lease, delay, reason).thenApply((settled) -> ended(lease, settled));
    }

    /** Counts the retry of a message. */
    public void retried(QueueName queue) {
        this.events.of(queue).retried();
    }

    /** Dead-letters a message. Does not publish that. */
    public CompletableFuture<Boolean> deadLetter(Lease lease, DeadLetterRequest request) {
        return this.store.deadLetter(lease, withCause(request)).thenApply((settled) -> ended(lease, settled));
    }

    /** Publishes that a message was dead-lettered; see {@link DeadLetterPublisher}. */
    public void publish(Lease lease, DeadLetterRequest request, int failures, String note) {
        this.publisher.publish(lease, withCause(request), failures, note);
    }

    /** Returns the request with a cause that is neither blank nor too long. */
    private static DeadLetterRequest withCause(DeadLetterRequest request) {
        String cause = request.cause().isBlank() ? NO_REASON : Texts.cut(request.cause(), MAX_CAUSE);
        return new DeadLetterRequest(cause, request.failed(), request.dueAt());
    }

    /**
     * Dead-letters a message that no caller may have, and publishes that. This call is
     * never repeated, so it is published even if the reply was lost. If it has no effect,
     * the message stays leased until its lease lapses.
     * @param executor publishes it
     */
    CompletableFuture<Boolean> deadLetter(ClaimedMessage message, String cause, Executor executor) {
        DeadLetterRequest request = new DeadLetterRequest(cause, false, message.dueAt());
        return deadLetter(message.lease(), request).whenCompleteAsync((settled, failure) -> {
            if (failure == null && settled) {
                publish(message.lease(), request, message.failures(), "");
            }
            else if (failure != null && StoreFailures.mayHaveTakenEffect(failure)) {
                publish(message.lease(), request, message.failures(), UNCONFIRMED);
            }
            else if (failure != null) {
                this.publisher.log(() -> logger.warn(
                        "Cannot dead-letter message '{}' of queue '{}', which is claimed again when its lease runs out",
                        message.lease().id(), message.lease().queue(), failure));
            }
        }, executor);
    }

    private boolean countIfLost(Lease lease, boolean held) {
        return held || ended(lease, false);
    }

    /** Records the end of a lease, and counts it if the lease was lost. */
    private boolean ended(Lease lease, boolean settled) {
        if (this.ended.add(lease) && !settled) {
            this.events.of(lease.queue()).leaseLost();
        }
        return settled;
    }

    /**
     * Counts, logs and publishes what a claim has found besides messages. Expired
     * messages are logged in one line a minute.
     */
    void report(QueueName queue, ClaimResult claim, ExpiryPolicy policy) {
        if (claim.expired() > 0) {
            this.events.of(queue).expired(claim.expired());
        }
        claim.messages()
            .stream()
            .filter(ClaimedMessage::redelivered)
            .forEach((message) -> this.events.of(queue).redelivered());
        claim.deadLettered().forEach(this.publisher::publish);
        String summary = this.expirations.add(queue, claim, policy);
        if (summary != null) {
            this.publisher.log(() -> logger.warn(summary));
        }
    }

    /**
     * Releases messages of one partition that no caller has seen.
     * @return completes when they are released; does not fail
     */
    CompletableFuture<Void> releaseUnseen(List<UnstartedLease> leases) {
        Lease first = leases.get(0).lease();
        return this.store.release(first.partition(), leases).handle((released, failure) -> {
            if (failure != null) {
                this.publisher
                    .log(() -> logger.warn("Cannot release {} of queue '{}', due again when the leases run out",
                            Texts.count(leases.size(), "message"), first.queue(), failure));
            }
            return null;
        });
    }

}
