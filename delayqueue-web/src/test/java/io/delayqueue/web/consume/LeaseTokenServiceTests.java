package io.delayqueue.web.consume;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.Lease;
import io.delayqueue.store.Partition;
import io.delayqueue.store.SecretStore;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.ProblemException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Checks the secret of lease tokens: all nodes agree on it, and it costs little. */
class LeaseTokenServiceTests {

    private static final QueueName QUEUE = new QueueName("orders");

    private static final LeaseToken TOKEN = new LeaseToken(
            new Lease(new Partition(QUEUE, 3), "o-1", "1795359855799564"), 2, Instant.ofEpochMilli(1_795_359_855_000L));

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);

    private final Store store = new Store();

    private final LeaseTokenService tokens = node();

    private LeaseTokenService node() {
        return new LeaseTokenService(this.store, "shop", this.nanos::get);
    }

    private void pass(Duration time) {
        this.nanos.addAndGet(time.toNanos());
    }

    @Test
    void areVerifiedByEveryNode() {
        String text = signed(this.tokens);

        assertThat(node().verified(QUEUE, "o-1", text)).isCompletedWithValue(TOKEN);
        assertThat(text).hasSizeLessThan(128).matches("[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]{22}");
    }

    @Test
    void areBoundToTheirNamespaceQueueAndId() {
        String text = signed(this.tokens);

        assertRejected(this.tokens.verified(new QueueName("other"), "o-1", text));
        assertRejected(this.tokens.verified(QUEUE, "o-2", text));
        assertRejected(new LeaseTokenService(this.store, "shop2", this.nanos::get).verified(QUEUE, "o-1", text));
    }

    /** For instance in a rolling update; the caller has to treat the lease as lost. */
    @Test
    void aTokenOfAnotherVersionIsAnsweredAsALostLease() {
        String mac = ".AAAAAAAAAAAAAAAAAAAAAA";
        for (String fields : new String[] { "3.0.0.0.1", "2.0.0.0.1.7", "1.0.0.0.1" }) {
            String body = Base64.getUrlEncoder().withoutPadding().encodeToString(fields.getBytes());
            assertRejected(this.tokens.verified(QUEUE, "o-1", body + mac), Problem.Kind.LEASE_LOST);
        }
        assertThat(this.store.reads).isZero();
    }

    @Test
    void aTokenOfAnotherFormIsRejectedUnread() {
        for (String text : new String[] { "", ".", "MS4wLjAuMC4x", "a.b", "\u00e9.\u00e9", "A".repeat(200), "=.=" }) {
            assertRejected(this.tokens.verified(QUEUE, "o-1", text), Problem.Kind.INVALID);
        }
        assertThat(this.store.reads).isZero();
    }

    @Test
    void theSecretIsReadAgainAfterTenSeconds() {
        signed(this.tokens);
        this.store.lose();
        pass(Duration.ofMillis(9_999));
        String before = signed(this.tokens);
        pass(Duration.ofMillis(1));

        assertRejected(this.tokens.verified(QUEUE, "o-1", before));
        assertThat(node().verified(QUEUE, "o-1", signed(this.tokens))).isCompleted();
        assertThat(this.store.reads).isEqualTo(3);
    }

    @Test
    void aTokenOfANewerSecretIsVerifiedAtOnce() {
        signed(this.tokens);
        pass(Duration.ofSeconds(1));
        this.store.lose();

        assertThat(this.tokens.verified(QUEUE, "o-1", signed(node()))).isCompletedWithValue(TOKEN);
    }

    @Test
    void forgedTokensCauseAtMostOneReadOfTheSecretPerSecond() {
        String forged = signed(new LeaseTokenService(SecretStore.inMemory(), "shop", this.nanos::get));
        for (int i = 0; i < 300; i++) {
            assertRejected(this.tokens.verified(QUEUE, "o-1", forged));
            pass(Duration.ofMillis(10));
        }
        assertThat(this.store.reads).isEqualTo(3);
    }

    @Test
    void callersShareARead() {
        this.store.hang();
        CompletableFuture<LeaseTokenMac> one = this.tokens.signer();
        CompletableFuture<LeaseTokenMac> other = this.tokens.signer();
        assertThat(one).isNotDone();
        this.store.goOn();

        assertThat(one.join()).isSameAs(other.join());
        assertThat(this.store.reads).isEqualTo(1);
    }

    @Test
    void theLastSecretIsUsedWhileTheStoreIsUnavailable() {
        String text = signed(this.tokens);
        pass(Duration.ofSeconds(10));
        this.store.failure = new StoreUnavailableException("away", Effect.UNKNOWN, null);

        assertThat(this.tokens.verified(QUEUE, "o-1", text)).isCompleted();
        this.store.hang();
        pass(Duration.ofSeconds(1));
        assertThat(this.tokens.verified(QUEUE, "o-1", text)).as("no caller waits for the next read").isCompleted();
        assertThat(signed(this.tokens)).isEqualTo(text);
    }

    /** It may be valid, with a secret that this node cannot read now. */
    @Test
    void noTokenIsRejectedWhileTheStoreIsUnavailable() {
        signed(this.tokens);
        pass(Duration.ofSeconds(10));
        this.store.failure = new StoreUnavailableException("away", Effect.UNKNOWN, null);
        String forged = signed(new LeaseTokenService(SecretStore.inMemory(), "shop", this.nanos::get));

        assertThatThrownBy(this.tokens.verified(QUEUE, "o-1", forged)::join).cause()
            .isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void withoutASecretNothingIsSignedAndNothingIsClaimed() {
        this.store.failure = new StoreUnavailableException("away", Effect.UNKNOWN, null);

        assertThatThrownBy(this.tokens.signer()::join).cause()
            .isInstanceOfSatisfying(DelayQueueException.class,
                    (failure) -> assertThat(failure.effect()).isEqualTo(Effect.NONE));
        this.store.failure = null;
        assertThat(this.tokens.signer()).isCompleted();
    }

    private static String signed(LeaseTokenService node) {
        return node.signer().join().text(TOKEN);
    }

    private static void assertRejected(CompletableFuture<LeaseToken> verified) {
        assertRejected(verified, Problem.Kind.LEASE_LOST);
    }

    private static void assertRejected(CompletableFuture<LeaseToken> verified, Problem.Kind kind) {
        assertThatThrownBy(verified::join).cause()
            .isInstanceOfSatisfying(ProblemException.class,
                    (refusal) -> assertThat(refusal.problem().kind()).isEqualTo(kind));
    }

    /** Counts its reads, and fails or hangs on demand. */
    private static final class Store implements SecretStore {

        private final Deque<Runnable> delayed = new ArrayDeque<>();

        private SecretStore secrets = SecretStore.inMemory();

        private @Nullable RuntimeException failure;

        private boolean hanging;

        private int reads;

        void lose() {
            this.secrets = SecretStore.inMemory();
        }

        void hang() {
            this.hanging = true;
        }

        void goOn() {
            this.hanging = false;
            this.delayed.forEach(Runnable::run);
        }

        @Override
        public CompletableFuture<byte[]> getOrCreate(byte[] candidate) {
            this.reads++;
            if (this.hanging) {
                CompletableFuture<byte[]> later = new CompletableFuture<>();
                this.delayed.add(() -> this.secrets.getOrCreate(candidate).thenAccept(later::complete));
                return later;
            }
            return (this.failure != null) ? CompletableFuture.failedFuture(this.failure)
                    : this.secrets.getOrCreate(candidate);
        }

    }

}
