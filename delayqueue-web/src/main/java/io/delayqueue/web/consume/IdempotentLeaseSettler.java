package io.delayqueue.web.consume;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.delayqueue.consume.LeaseSettler;
import io.delayqueue.store.DeadLetterPublisher;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.Lease;
import io.delayqueue.store.RecentLeases;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.store.routing.StoreComponents;

/**
 * Settles leases of HTTP consumers by retry, release or dead-lettering, and recognizes a
 * call that is repeated after a lost reply. Counts and publishes a repeated call once;
 * the store changes the message once in any case. Offers a plain {@link LeaseSettler} for
 * the calls that need no such care. Thread-safe; never blocks.
 */
public final class IdempotentLeaseSettler {

    private static final String REPEATED = " (a repeated call; may have been logged before)";

    /** Changes no lease that lasts longer: the store never shortens a lease. */
    private static final Duration AT_ALL = Duration.ofMillis(1);

    private final LeaseSettler leases;

    /** The last leases whose dead-lettering this node has published. */
    private final RecentLeases published = new RecentLeases();

    IdempotentLeaseSettler(StoreComponents components, AsyncEventPublisher publisher) {
        this.leases = new LeaseSettler(components,
                new DeadLetterPublisher(components.events(), publisher::publish, publisher::log));
    }

    /** Returns the settlements that may be repeated without notice. */
    public LeaseSettler settler() {
        return this.leases;
    }

    /** Retries the message. Counts the retry unless the call is repeated. */
    public CompletableFuture<SettlementResult> retry(Lease lease, Duration delay, String failure) {
        return isLive(lease).thenCompose((live) -> this.leases.retry(lease, delay, failure).thenApply((retried) -> {
            SettlementResult settled = SettlementResult.of(retried, live);
            if (settled == SettlementResult.DONE) {
                this.leases.retried(lease.queue());
            }
            return settled;
        }));
    }

    /** Releases the message. */
    public CompletableFuture<SettlementResult> release(Lease lease, Duration delay) {
        return isLive(lease).thenCompose((live) -> this.leases.release(lease, delay)
            .thenApply((released) -> SettlementResult.of(released, live)));
    }

    /**
     * Returns whether the lease is not settled yet. The store answers a repeated retry,
     * release or dead-lettering like the first one; a check before it distinguishes them.
     * Two simultaneous calls may both count as the first.
     */
    private CompletableFuture<Boolean> isLive(Lease lease) {
        return this.leases.isLive(lease, AT_ALL).handle((live, failure) -> {
            if (failure != null) {
                throw new CompletionException(
                        StoreFailures.withoutEffect("The lease cannot be checked, nothing was changed", failure));
            }
            return live;
        });
    }

    /**
     * Dead-letters a message, and publishes that unless this node already has. A repeated
     * call is published too if this node does not know the outcome of the first: its
     * reply from another node may have been lost, or that node may have ended.
     */
    public CompletableFuture<SettlementResult> deadLetter(LeaseToken token, String reason, boolean failed) {
        Lease lease = token.lease();
        DeadLetterRequest request = new DeadLetterRequest(reason, failed, token.dueAt());
        return isLive(lease).thenCompose((live) -> this.leases.deadLetter(lease, request).thenApply((dead) -> {
            SettlementResult settled = SettlementResult.of(dead, dead && this.published.add(lease));
            if (settled == SettlementResult.DONE) {
                this.leases.publish(lease, request, token.failures(), live ? "" : REPEATED);
            }
            return settled;
        }));
    }

}
