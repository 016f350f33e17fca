package io.delayqueue.web.consume;

import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.delayqueue.QueueName;
import io.delayqueue.store.SecretStore;
import io.delayqueue.store.StoreFailures;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.ProblemException;
import org.jspecify.annotations.Nullable;

/**
 * Reads and caches the secret of the namespace, verifies the lease tokens of callers, and
 * provides the {@link LeaseTokenMac} that signs new ones. The secret is read again after
 * ten seconds, and, at most once a second, when a token does not verify: all nodes agree
 * soon after it was lost or deleted, and forged tokens cost the store little. While the
 * store does not answer, the last secret is used.
 * <p>
 * <strong>Threads.</strong> Any. The lock guards the state, not the read of the store;
 * one read is under way at a time, and shared.
 */
public final class LeaseTokenService {

    private static final long FRESH = TimeUnit.SECONDS.toNanos(10);

    private static final long PAUSE = TimeUnit.SECONDS.toNanos(1);

    private final SecretStore secrets;

    private final String namespace;

    private final LongSupplier nanoTime;

    private final SecureRandom random = new SecureRandom();

    private @Nullable LeaseTokenMac seal;

    /** The last read, which may be under way. */
    private CompletableFuture<LeaseTokenMac> read = CompletableFuture
        .failedFuture(new IllegalStateException("The secret has never been read"));

    /** Start of the last read. */
    private long readAt;

    /**
     * Creates an instance that has read nothing yet.
     * @param secrets stores the secret
     * @param namespace part of each signature
     */
    public LeaseTokenService(SecretStore secrets, String namespace) {
        this(secrets, namespace, System::nanoTime);
    }

    LeaseTokenService(SecretStore secrets, String namespace, LongSupplier nanoTime) {
        this.secrets = secrets;
        this.namespace = namespace;
        this.nanoTime = nanoTime;
        this.readAt = nanoTime.getAsLong() - FRESH;
    }

    /**
     * Returns the signature for new tokens.
     * @return fails only if the secret was never read, and cannot be read now
     */
    public CompletableFuture<LeaseTokenMac> signer() {
        LeaseTokenMac known;
        boolean away;
        synchronized (this) {
            known = this.seal;
            away = this.read.isCompletedExceptionally();
            if (known != null && age() < (away ? PAUSE : FRESH)) {
                return CompletableFuture.completedFuture(known);
            }
        }
        CompletableFuture<LeaseTokenMac> reading = read();
        if (known == null) {
            return reading;
        }
        LeaseTokenMac last = known;
        return away ? CompletableFuture.completedFuture(last) : reading.exceptionally((failure) -> last);
    }

    /**
     * Verifies the token of a lease.
     * @return fails with a {@link ProblemException} if it is not a token, or not signed
     * for that message, or if the secret cannot be read
     */
    public CompletableFuture<LeaseToken> verified(QueueName queue, String id, String text) {
        LeaseToken token = LeaseToken.unverified(queue, id, text);
        if (token == null) {
            return CompletableFuture.failedFuture(LeaseToken.isForm(text) ? lost(id) : invalid(id));
        }
        return signer().thenCompose((current) -> current.isOf(token, text) ? CompletableFuture.completedFuture(token)
                : latest().thenApply((latest) -> {
                    if (!latest.isOf(token, text)) {
                        throw new CompletionException(lost(id));
                    }
                    return token;
                }));
    }

    /** Rejects a token that is forged, or signed with a lost or replaced secret. */
    private static ProblemException lost(String id) {
        return new ProblemException(new Problem(Kind.LEASE_LOST,
                ("The token of message '%s' does not verify: it was signed with another secret, or is not of this message; "
                        + "this call changed nothing, and the message comes back when its lease runs out")
                    .formatted(id)));
    }

    private static ProblemException invalid(String id) {
        return ProblemException
            .invalid("Token of message '%s' is not valid: use the one that the claim returned with the message"
                .formatted(id));
    }

    /** Returns a read that began within the last second, or a new one. */
    private CompletableFuture<LeaseTokenMac> latest() {
        synchronized (this) {
            if (age() < PAUSE) {
                return this.read;
            }
        }
        return read();
    }

    private long age() {
        return this.nanoTime.getAsLong() - this.readAt;
    }

    private CompletableFuture<LeaseTokenMac> read() {
        CompletableFuture<LeaseTokenMac> own = new CompletableFuture<>();
        synchronized (this) {
            if (!this.read.isDone()) {
                return this.read;
            }
            this.read = own;
            this.readAt = this.nanoTime.getAsLong();
        }
        byte[] candidate = new byte[SecretStore.SECRET_BYTES];
        this.random.nextBytes(candidate);
        ask(candidate).whenComplete((secret, failure) -> {
            if (failure != null) {
                own.completeExceptionally(StoreFailures
                    .withoutEffect("The secret that lease tokens are signed with cannot be read", failure));
                return;
            }
            LeaseTokenMac fresh = new LeaseTokenMac(secret, this.namespace);
            synchronized (this) {
                this.seal = fresh;
            }
            own.complete(fresh);
        });
        return own;
    }

    private CompletableFuture<byte[]> ask(byte[] candidate) {
        try {
            return this.secrets.getOrCreate(candidate);
        }
        catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

}
