package io.delayqueue.web;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

import io.delayqueue.PayloadConversionException;
import io.delayqueue.QueueName;
import io.delayqueue.engine.Claim;
import io.delayqueue.engine.ClaimRequest;
import io.delayqueue.engine.ClaimedMessage;
import io.delayqueue.engine.EnvelopeCodec;
import io.delayqueue.engine.Envelope;
import io.delayqueue.engine.Lease;
import io.delayqueue.engine.MessageStore;
import io.delayqueue.engine.Partition;
import io.delayqueue.engine.Router;
import org.jspecify.annotations.Nullable;

/**
 * Claims messages for callers, and leaves out what nobody may have: what died, what has
 * passed on, and what came too late. Thread-safe; waits for nothing.
 */
final class Claimer {

    private final MessageStore store;

    private final Router router;

    private final EnvelopeCodec codec;

    private final Settlements settlements;

    private final LongSupplier nanoTime;

    Claimer(MessageStore store, Router router, EnvelopeCodec codec, Settlements settlements, LongSupplier nanoTime) {
        this.store = store;
        this.router = router;
        this.codec = codec;
        this.settlements = settlements;
        this.nanoTime = nanoTime;
    }

    long now() {
        return this.nanoTime.getAsLong();
    }

    CompletableFuture<List<Partition>> partitions(QueueName queue, int version) {
        return this.router.all(queue, version);
    }

    CompletableFuture<Batch> claim(Partition partition, Poll poll, ConsumeSettings settings) {
        long sent = now();
        return this.store.claim(partition, new ClaimRequest(poll.limit(), poll.lease(), settings.expired()))
            .thenCompose((claim) -> {
                this.router.noticed(partition, claim.partitionsVersion());
                this.settlements.tell(partition.queue(), claim);
                List<CompletableFuture<Optional<TakenMessage>>> all = claim.messages()
                    .stream()
                    .map((message) -> accept(message, claim.now(), new Terms(poll.lease(), settings, sent)))
                    .toList();
                return CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new)).thenApply((done) -> {
                    List<TakenMessage> taken = new ArrayList<>();
                    all.forEach((one) -> one.join().ifPresent(taken::add));
                    return new Batch(claim, taken);
                });
            });
    }

    /**
     * The message for the caller; empty if it is not. Does not fail: a message that
     * cannot be settled is left to its lease, so that the others have their caller.
     */
    private CompletableFuture<Optional<TakenMessage>> accept(ClaimedMessage message, Instant now, Terms terms) {
        Envelope envelope = null;
        String death = terms.deathOf(message);
        if (death == null) {
            try {
                envelope = this.codec.read(message.envelope());
            }
            catch (PayloadConversionException ex) {
                death = String.valueOf(ex.getMessage());
            }
        }
        if (envelope == null) {
            return this.settlements.bury(message, String.valueOf(death)).handle((buried, failure) -> Optional.empty());
        }
        TakenMessage taken = new TakenMessage(message, envelope, terms.sent(), terms.lease());
        if (!message.suspect()) {
            return CompletableFuture.completedFuture(inTime(taken, now));
        }
        return this.store.start(message.lease())
            .handle((started, failure) -> (failure == null && Boolean.TRUE.equals(started)) ? inTime(taken, now)
                    : Optional.empty());
    }

    private Optional<TakenMessage> inTime(TakenMessage taken, Instant now) {
        long elapsed = now() - taken.sent();
        Instant expiresAt = taken.claimed().expiresAt();
        boolean expired = expiresAt != null && !now.plusNanos(elapsed).isBefore(expiresAt);
        if (expired || taken.left(now()).toNanos() <= 0) {
            this.settlements.giveBack(List.of(taken.claimed().lease()));
            return Optional.empty();
        }
        return Optional.of(taken);
    }

    /** Gives messages back that their caller will not see. */
    void giveBack(List<TakenMessage> messages) {
        List<Lease> leases = messages.stream().map((message) -> message.claimed().lease()).toList();
        if (!leases.isEmpty()) {
            this.settlements.giveBack(leases);
        }
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
     * @param lease how long they are the caller's
     * @param settings those of the queue
     * @param sent when the claim was sent
     */
    private record Terms(Duration lease, ConsumeSettings settings, long sent) {

        @Nullable String deathOf(ClaimedMessage message) {
            if (message.lapses() >= this.settings.maxLapses()) {
                return "Its lease ran out %d times after it had started; at most %d are allowed"
                    .formatted(message.lapses(), this.settings.maxLapses());
            }
            if (message.failures() >= this.settings.maxAttempts()) {
                return "It failed %d times; at most %d attempts are allowed".formatted(message.failures(),
                        this.settings.maxAttempts());
            }
            return null;
        }

    }

}
