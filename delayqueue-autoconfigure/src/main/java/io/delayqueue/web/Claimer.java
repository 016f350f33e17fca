package io.delayqueue.web;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

import io.delayqueue.PayloadConversionException;
import io.delayqueue.QueueName;
import io.delayqueue.engine.Causes;
import io.delayqueue.engine.Claim;
import io.delayqueue.engine.ClaimRequest;
import io.delayqueue.engine.ClaimedMessage;
import io.delayqueue.engine.Envelope;
import io.delayqueue.engine.DueLease;
import io.delayqueue.engine.EnvelopeCodec;
import io.delayqueue.engine.MessageStore;
import io.delayqueue.engine.Partition;
import io.delayqueue.engine.Router;
import io.delayqueue.engine.StorePorts;

/**
 * Claims messages for callers, and leaves out what nobody may have: what died, what has
 * passed on, and what came too late. Thread-safe; waits for nothing.
 */
final class Claimer {

    /** As many as a pool of connections has by the defaults of its clients. */
    private static final int STORE_THREADS = 8;

    private static final int READERS = 2;

    private final MessageStore store;

    private final Router router;

    private final ConsumerFormat format;

    private final Settlements settlements;

    private final LongSupplier nanoTime;

    /** For calls of a store that wait. */
    private final ClaimThreads threads;

    /** For reading what was claimed, which may be much, where nobody else waits. */
    private final ClaimThreads readers;

    Claimer(StorePorts ports, ConsumerFormat format, Settlements settlements, LongSupplier nanoTime) {
        this.store = ports.messages();
        this.router = new Router(ports);
        this.threads = new ClaimThreads("delayqueue-web-store-", this.store.waits() ? STORE_THREADS : 0);
        this.readers = new ClaimThreads("delayqueue-web-reader-", this.store.waits() ? 0 : READERS);
        this.format = format;
        this.settlements = settlements;
        this.nanoTime = nanoTime;
    }

    void start() {
        this.threads.start();
        this.readers.start();
    }

    void stop() {
        this.threads.stop();
        this.readers.stop();
    }

    long now() {
        return this.nanoTime.getAsLong();
    }

    CompletableFuture<List<Partition>> partitions(QueueName queue, int version) {
        return this.threads.call(() -> this.router.all(queue, version));
    }

    /** Claims for a poll. */
    CompletableFuture<Batch> claim(Partition partition, Poll poll, ConsumeSettings settings) {
        // Without a seal nobody could settle what the claim brings.
        return this.threads.call(this.format.tokens()::seal)
            .thenCompose((seal) -> this.threads.call(() -> claimNow(partition, poll,
                    new Terms(settings, seal, new TakenMessage.Term(now(), poll.lease())))));
    }

    private CompletableFuture<Batch> claimNow(Partition partition, Poll poll, Terms terms) {
        return this.store
            .claim(partition,
                    new ClaimRequest(poll.limit(), poll.lease(), terms.settings().expired(), null,
                            terms.settings().lease()))
            .thenComposeAsync((claim) -> {
                this.router.noticed(partition, claim.partitionsVersion());
                this.settlements.tell(partition.queue(), claim, terms.settings().expired());
                List<CompletableFuture<Optional<TakenMessage>>> all = claim.messages()
                    .stream()
                    .map((message) -> accept(message, claim.now(), terms))
                    .toList();
                return CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new)).thenApply((done) -> {
                    List<TakenMessage> taken = new ArrayList<>();
                    all.forEach((one) -> one.join().ifPresent(taken::add));
                    return new Batch(claim, taken);
                });
            }, this.readers);
    }

    /**
     * The message for the caller; empty if it is not. Does not fail: a message that
     * cannot be settled is left to its lease, so that the others have their caller.
     */
    private CompletableFuture<Optional<TakenMessage>> accept(ClaimedMessage message, Instant now, Terms terms) {
        String death = message.deathBy(terms.settings().maxLapses(), terms.settings().maxAttempts());
        if (death != null) {
            return bury(message, death);
        }
        TakenMessage taken;
        try {
            Envelope envelope = this.format.codec().read(message.envelope());
            String payload = EnvelopeCodec.text(envelope);
            if (!Json.isReadable(payload) || payload.strip().equals("null")) {
                return bury(message, Causes.NO_JSON);
            }
            taken = new TakenMessage(message.withoutEnvelope(), terms.seal().text(LeaseToken.of(message)),
                    envelope.headers(), payload, terms.term());
        }
        catch (PayloadConversionException ex) {
            return bury(message, String.valueOf(ex.getMessage()));
        }
        catch (RuntimeException ex) {
            // Of what an application's codec may throw; the others shall have their
            // caller.
            return bury(message, Causes.NO_JSON + ": " + ex.getClass().getName());
        }
        if (!message.suspect()) {
            return CompletableFuture.completedFuture(inTime(taken, now));
        }
        return this.store.start(message.lease())
            .handle((started, failure) -> (failure == null && Boolean.TRUE.equals(started)) ? inTime(taken, now)
                    : Optional.empty());
    }

    private CompletableFuture<Optional<TakenMessage>> bury(ClaimedMessage message, String reason) {
        return this.settlements.bury(message, reason).handle((buried, failure) -> Optional.empty());
    }

    private Optional<TakenMessage> inTime(TakenMessage taken, Instant now) {
        long elapsed = now() - taken.term().sent();
        Instant expiresAt = taken.claimed().expiresAt();
        boolean expired = expiresAt != null && !now.plusNanos(elapsed).isBefore(expiresAt);
        if (expired || taken.left(now()).toNanos() <= 0) {
            this.settlements.giveBack(List.of(taken.claimed().dueLease()));
            return Optional.empty();
        }
        return Optional.of(taken);
    }

    /**
     * Gives messages back that their caller will not see, with no attempt burned.
     * @return completes when they are back; does not fail
     */
    CompletableFuture<Void> giveBack(List<TakenMessage> messages) {
        Map<Partition, List<DueLease>> leases = messages.stream()
            .map((message) -> message.claimed().dueLease())
            .collect(Collectors.groupingBy((due) -> due.lease().partition()));
        return CompletableFuture.allOf(leases.values()
            .stream()
            .map((some) -> this.threads.call(() -> this.settlements.giveBack(some)))
            .toArray(CompletableFuture<?>[]::new));
    }

    /**
     * What a claim brought.
     *
     * @param claim the answer of the store
     * @param taken the messages for the caller
     */
    record Batch(Claim claim, List<TakenMessage> taken) {

        /** Whether another claim of the partition would find something at once. */
        boolean leavesMore() {
            Duration nextIn = this.claim.nextIn();
            boolean removed = this.claim.expired() > 0 || !this.claim.buried().isEmpty()
                    || !this.claim.messages().isEmpty();
            return removed && nextIn != null && nextIn.isZero();
        }

    }

    /**
     * How messages are handed over.
     *
     * @param settings those of the queue
     * @param seal signs the tokens
     * @param term how long messages are the caller's
     */
    private record Terms(ConsumeSettings settings, LeaseSeal seal, TakenMessage.Term term) {
    }

}
