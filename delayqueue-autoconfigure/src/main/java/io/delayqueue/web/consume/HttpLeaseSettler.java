package io.delayqueue.web.consume;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DeadLetterReason;
import io.delayqueue.store.DueLease;
import io.delayqueue.store.ExpiredMessagesLog;
import io.delayqueue.store.ExpiredMessagesLogs;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageEventListener;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Texts;
import io.delayqueue.store.UncertainEffects;
import io.delayqueue.store.routing.DelayQueueStore;
import io.delayqueue.web.http.Json;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles leases, and publishes dead letters. Thread-safe; never blocks. */
public final class HttpLeaseSettler {

    private static final Logger logger = LoggerFactory.getLogger(HttpLeaseSettler.class);

    private static final int MAX_LINE = 500;

    private static final int MOST_KNOWN = 10_000;

    private static final String REPEATED = " (a repeated call; may have been logged before)";

    private static final String UNCONFIRMED = " (the reply was lost; logged again if it was not stored)";

    /** Changes no lease that lasts longer: the store never shortens a lease. */
    private static final Duration AT_ALL = Duration.ofMillis(1);

    private final MessageStore store;

    private final MessageEventListener told;

    private final AsyncEventPublisher herald;

    private final ExpiredMessagesLogs expirations = new ExpiredMessagesLogs(System::nanoTime);

    /** The last leases whose dead-lettering this node has published. */
    private final Set<Lease> published = Collections
        .synchronizedSet(Collections.newSetFromMap(new LinkedHashMap<Lease, Boolean>() {

            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Lease, Boolean> eldest) {
                return size() > MOST_KNOWN;
            }

        }));

    HttpLeaseSettler(DelayQueueStore ports, AsyncEventPublisher herald) {
        this.store = ports.messages();
        this.told = ports.events();
        this.herald = herald;
    }

    public CompletableFuture<List<Boolean>> acknowledge(List<Lease> leases) {
        Lease first = leases.get(0);
        return this.store.acknowledge(first.partition(), leases).thenApply((all) -> {
            all.forEach((held) -> known(first, held));
            return all;
        });
    }

    /**
     * Acknowledges leases of any partitions, each once.
     * @return whether each was held; a failure is without effect only if every partition
     * failed without effect
     */
    public CompletableFuture<Map<Lease, Boolean>> acknowledgeAll(List<Lease> leases) {
        Map<Lease, Boolean> held = new ConcurrentHashMap<>();
        List<CompletableFuture<Void>> answers = leases.stream()
            .distinct()
            .collect(Collectors.groupingBy(Lease::partition))
            .values()
            .stream()
            .map((some) -> acknowledge(some)
                .thenAccept((all) -> IntStream.range(0, some.size()).forEach((i) -> held.put(some.get(i), all.get(i)))))
            .toList();
        return CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new)).handle((done, failure) -> {
            if (failure != null) {
                throw new CompletionException(answers.stream().allMatch(HttpLeaseSettler::changedNothing)
                        ? cause(failure) : partly(cause(failure)));
            }
            return held;
        });
    }

    private static boolean changedNothing(CompletableFuture<Void> answer) {
        return answer
            .handle((done, failure) -> failure != null && cause(failure) instanceof DelayQueueException known
                    && known.effect() == Effect.NONE)
            .join();
    }

    /** Marks the effect as unknown if only some partitions failed without effect. */
    private static Throwable partly(Throwable failure) {
        if (!(failure instanceof DelayQueueException known) || known.effect() != Effect.NONE) {
            return failure;
        }
        String message = failure.getMessage() + "; of other messages of this call it may have taken effect";
        return (failure instanceof StoreRefusedException) ? new StoreRefusedException(message, Effect.UNKNOWN, failure)
                : new StoreUnavailableException(message, Effect.UNKNOWN, failure);
    }

    private static Throwable cause(Throwable failure) {
        return (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause() : failure;
    }

    public CompletableFuture<Boolean> extend(Lease lease, Duration leaseTime) {
        return this.store.extend(lease.partition(), List.of(lease), leaseTime)
            .thenApply((all) -> known(lease, all.get(0)));
    }

    public CompletableFuture<Boolean> release(Lease lease, Duration delay) {
        return this.store.release(lease.partition(), List.of(lease), delay)
            .thenApply((all) -> known(lease, all.get(0)));
    }

    /** Retries the message. Counts the retry unless the call is repeated. */
    public CompletableFuture<SettlementResult> retry(Lease lease, Duration delay, String failure) {
        return isLive(lease).thenCompose((live) -> this.store.retry(lease, delay, failure).thenApply((retried) -> {
            SettlementResult settled = settled(lease, retried, live);
            if (settled == SettlementResult.DONE) {
                this.told.of(lease.queue()).retried();
            }
            return settled;
        }));
    }

    /**
     * Returns whether the lease is not settled yet. The store answers a repeated retry or
     * dead-lettering like the first one; a check before it distinguishes them. Two
     * simultaneous calls may both count as the first.
     */
    private CompletableFuture<Boolean> isLive(Lease lease) {
        return this.store.extend(lease.partition(), List.of(lease), AT_ALL).handle((all, failure) -> {
            if (failure != null) {
                throw new CompletionException(
                        UncertainEffects.none("The lease cannot be checked, nothing was changed", failure));
            }
            return all.get(0);
        });
    }

    private SettlementResult settled(Lease lease, boolean held, boolean first) {
        return !known(lease, held) ? SettlementResult.REFUSED
                : first ? SettlementResult.DONE : SettlementResult.REPEATED;
    }

    /** Counts a refusal if the lease was no longer held. */
    private boolean known(Lease lease, boolean held) {
        if (!held) {
            refused(lease.queue());
        }
        return held;
    }

    /** Counts a settlement that was rejected. */
    public void refused(QueueName queue) {
        this.told.of(queue).refused();
    }

    /**
     * Dead-letters a message, and publishes that unless this node already has. A repeated
     * call is published too if this node does not know the outcome of the first: its
     * reply from another node may have been lost, or that node may have ended.
     */
    public CompletableFuture<SettlementResult> deadLetter(LeaseToken token, String reason, boolean failed) {
        Lease lease = token.lease();
        DeadLetterReason death = new DeadLetterReason(reason, failed, token.dueAt());
        int failures = token.failures() + (failed ? 1 : 0);
        return isLive(lease).thenCompose((live) -> this.store.deadLetter(lease, death).thenApply((dead) -> {
            SettlementResult settled = settled(lease, dead, dead && this.published.add(lease));
            if (settled == SettlementResult.DONE) {
                publish(lease, death, failures, live ? "" : REPEATED);
            }
            return settled;
        }));
    }

    /**
     * Dead-letters a message that no caller may have. This call is never repeated, so it
     * is published even if the reply was lost.
     */
    CompletableFuture<SettlementResult> bury(ClaimedMessage message, String reason) {
        Lease lease = message.lease();
        DeadLetterReason death = new DeadLetterReason(reason, false, message.dueAt());
        return this.store.deadLetter(lease, death).whenComplete((dead, failure) -> {
            if (failure == null && dead) {
                publish(lease, death, message.failures(), "");
            }
            else if (failure != null && UncertainEffects.isIn(failure)) {
                publish(lease, death, message.failures(), UNCONFIRMED);
            }
        }).thenApply((dead) -> settled(lease, dead, true));
    }

    private void publish(Lease lease, DeadLetterReason death, int failures, String note) {
        DeadLetterEvent event = new DeadLetterEvent(lease.queue().value(), lease.id(), lease.letterId(), failures,
                Json.line(death.cause(), MAX_LINE));
        log(event, note);
        publish(event);
    }

    /**
     * Counts, logs and publishes what a claim has found besides messages. Expired
     * messages are logged in one line a minute.
     */
    void tell(QueueName queue, ClaimResult claim, ExpiryPolicy policy) {
        if (claim.expired() > 0) {
            this.told.of(queue).expired(claim.expired());
        }
        claim.messages()
            .stream()
            .filter(ClaimedMessage::suspect)
            .forEach((message) -> this.told.of(queue).redelivered());
        for (DeadLetterEvent death : claim.buried()) {
            if (!ExpiredMessagesLog.isExpired(death)) {
                log(death, "");
            }
            publish(death);
        }
        String summary = this.expirations.add(queue, claim, policy);
        if (summary != null) {
            this.herald.log(() -> logger.warn(summary));
        }
    }

    private void log(DeadLetterEvent death, String note) {
        this.herald.log(() -> logger.error("Message '{}' of queue '{}' is dead after {}: {}{}", death.id(),
                death.queue(), Texts.count(death.failures(), "failure"), death.reason(), note));
    }

    private void publish(DeadLetterEvent death) {
        this.told.of(new QueueName(death.queue())).died();
        this.herald.tell(death);
    }

    /**
     * Releases messages of one partition that no caller has seen.
     * @return completes when they are released; does not fail
     */
    CompletableFuture<Void> giveBack(List<DueLease> leases) {
        Lease first = leases.get(0).lease();
        return this.store.release(first.partition(), leases).handle((released, failure) -> {
            if (failure != null) {
                this.herald
                    .log(() -> logger.warn("Cannot give back {} of queue '{}', due again when the leases run out",
                            Texts.count(leases.size(), "message"), first.queue(), failure));
            }
            return null;
        });
    }

}
