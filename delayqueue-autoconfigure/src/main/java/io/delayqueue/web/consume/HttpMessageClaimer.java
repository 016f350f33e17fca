package io.delayqueue.web.consume;

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
import io.delayqueue.store.CauseMasking;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.DueLease;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.Partition;
import io.delayqueue.store.envelope.Envelope;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.routing.DelayQueueStore;
import io.delayqueue.store.routing.PartitionRouter;
import io.delayqueue.web.http.Json;

/**
 * Claims messages for HTTP callers. Leaves out messages that are dead-lettered, whose
 * lease was lost, or that were claimed too late. Thread-safe; never blocks.
 */
public final class HttpMessageClaimer {

    /** Default size of the connection pools of clients. */
    private static final int STORE_THREADS = 8;

    private static final int READERS = 2;

    private final MessageStore store;

    private final PartitionRouter router;

    private final ConsumerFormat format;

    private final HttpLeaseSettler settlements;

    private final LongSupplier nanoTime;

    /** Runs blocking calls of the store. */
    private final ClaimReaderThreads threads;

    /** Reads claimed messages, which may be large, without blocking other work. */
    private final ClaimReaderThreads readers;

    HttpMessageClaimer(DelayQueueStore ports, ConsumerFormat format, HttpLeaseSettler settlements,
            LongSupplier nanoTime) {
        this.store = ports.messages();
        this.router = new PartitionRouter(ports);
        this.threads = new ClaimReaderThreads("delayqueue-web-store-", this.store.waits() ? STORE_THREADS : 0);
        this.readers = new ClaimReaderThreads("delayqueue-web-reader-", this.store.waits() ? 0 : READERS);
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

    public long now() {
        return this.nanoTime.getAsLong();
    }

    CompletableFuture<List<Partition>> partitions(QueueName queue, int version) {
        return this.threads.call(() -> this.router.all(queue, version));
    }

    /** Claims for a waiting request. */
    CompletableFuture<Batch> claim(Partition partition, LongPollRequest poll, ConsumeSettings settings) {
        // The messages could not be settled without a signature.
        return this.threads.call(this.format.tokens()::seal)
            .thenCompose((seal) -> this.threads.call(() -> claimNow(partition, poll,
                    new Terms(settings, seal, new ClaimedDelivery.Term(now(), poll.lease())))));
    }

    private CompletableFuture<Batch> claimNow(Partition partition, LongPollRequest poll, Terms terms) {
        return this.store
            .claim(partition,
                    new ClaimRequest(poll.limit(), poll.lease(), terms.settings().expired(), null,
                            terms.settings().lease()))
            .thenComposeAsync((claim) -> {
                this.router.noticed(partition, claim.partitionsVersion());
                this.settlements.tell(partition.queue(), claim, terms.settings().expired());
                List<CompletableFuture<Optional<ClaimedDelivery>>> all = claim.messages()
                    .stream()
                    .map((message) -> accept(message, claim.now(), terms))
                    .toList();
                return CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new)).thenApply((done) -> {
                    List<ClaimedDelivery> taken = new ArrayList<>();
                    all.forEach((one) -> one.join().ifPresent(taken::add));
                    return new Batch(claim, taken);
                });
            }, this.readers);
    }

    /**
     * Returns the message for the caller; empty if it is left out. Does not fail: a
     * message that cannot be settled is left to its lease, so that the caller gets the
     * others.
     */
    private CompletableFuture<Optional<ClaimedDelivery>> accept(ClaimedMessage message, Instant now, Terms terms) {
        String death = message.deathBy(terms.settings().maxLapses(), terms.settings().maxAttempts());
        if (death != null) {
            return bury(message, death);
        }
        ClaimedDelivery taken;
        try {
            Envelope envelope = this.format.codec().read(message.envelope());
            String payload = EnvelopeCodec.text(envelope);
            if (!Json.isReadable(payload) || payload.strip().equals("null")) {
                return bury(message, CauseMasking.NO_JSON);
            }
            taken = new ClaimedDelivery(message.withoutEnvelope(), terms.seal().text(LeaseToken.of(message)),
                    envelope.headers(), payload, terms.term());
        }
        catch (PayloadConversionException ex) {
            return bury(message, String.valueOf(ex.getMessage()));
        }
        catch (RuntimeException ex) {
            // An application's codec may throw anything; the caller must get the others.
            return bury(message, CauseMasking.NO_JSON + ": " + ex.getClass().getName());
        }
        if (!message.suspect()) {
            return CompletableFuture.completedFuture(inTime(taken, now));
        }
        return this.store.start(message.lease())
            .handle((started, failure) -> (failure == null && Boolean.TRUE.equals(started)) ? inTime(taken, now)
                    : Optional.empty());
    }

    private CompletableFuture<Optional<ClaimedDelivery>> bury(ClaimedMessage message, String reason) {
        return this.settlements.bury(message, reason).handle((buried, failure) -> Optional.empty());
    }

    private Optional<ClaimedDelivery> inTime(ClaimedDelivery taken, Instant now) {
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
     * Releases messages that their caller will not see, without counting an attempt.
     * @return completes when they are released; does not fail
     */
    public CompletableFuture<Void> giveBack(List<ClaimedDelivery> messages) {
        Map<Partition, List<DueLease>> leases = messages.stream()
            .map((message) -> message.claimed().dueLease())
            .collect(Collectors.groupingBy((due) -> due.lease().partition()));
        return CompletableFuture.allOf(leases.values()
            .stream()
            .map((some) -> this.threads.call(() -> this.settlements.giveBack(some)))
            .toArray(CompletableFuture<?>[]::new));
    }

    /**
     * Holds the result of a claim.
     *
     * @param claim the answer of the store
     * @param taken the messages for the caller
     */
    record Batch(ClaimResult claim, List<ClaimedDelivery> taken) {

        /** Returns whether another claim of the partition would find something now. */
        boolean leavesMore() {
            Duration nextIn = this.claim.nextIn();
            boolean removed = this.claim.expired() > 0 || !this.claim.buried().isEmpty()
                    || !this.claim.messages().isEmpty();
            return removed && nextIn != null && nextIn.isZero();
        }

    }

    /**
     * Holds the terms of a claim.
     *
     * @param settings those of the queue
     * @param seal signs the tokens
     * @param term the time of the leases
     */
    private record Terms(ConsumeSettings settings, LeaseTokenSignature seal, ClaimedDelivery.Term term) {
    }

}
