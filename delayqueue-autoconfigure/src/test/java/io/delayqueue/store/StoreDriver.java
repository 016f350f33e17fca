package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.QueueStatistics;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendResult;
import io.delayqueue.StoredMessage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

import static io.delayqueue.store.StoreValues.DELAY;
import static io.delayqueue.store.StoreValues.HOME;
import static io.delayqueue.store.StoreValues.ID;
import static io.delayqueue.store.StoreValues.LEASE;
import static io.delayqueue.store.StoreValues.QUEUE;
import static io.delayqueue.store.StoreValues.at;
import static io.delayqueue.store.StoreValues.follow;
import static io.delayqueue.store.StoreValues.keep;

/**
 * Speaks to a store in the words of the contract: waits for answers, and puts the message
 * {@link StoreValues#ID} into a state. What values should be, {@link StoreValues} says.
 */
final class StoreDriver {

    /** As machines may be slow and shared; a case that fails so says nothing else. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final MessageStoreContract contract;

    StoreDriver(MessageStoreContract contract) {
        this.contract = contract;
    }

    // The state of the message that a case begins with.

    /** SCHEDULED, due at second 10. */
    void scheduled() {
        send(keep("first", DELAY));
    }

    /** SCHEDULED, due at second 0, which is now. */
    void due() {
        send(keep("first", Duration.ZERO));
    }

    /** LEASED until second 30. */
    Lease leased() {
        due();
        return claimOne();
    }

    /** LEASED until second 30, which is now; nobody has noticed. */
    Lease lapsed() {
        Lease lease = leased();
        advance(LEASE);
        return lease;
    }

    /** SCHEDULED, as it was noticed that its lease ran out at second 30, which is now. */
    Lease noticed() {
        Lease stale = lapsed();
        send(keep("ignored", DELAY));
        return stale;
    }

    /** LEASED by another until second 60, as the lease ran out at second 30. */
    Lease leasedByAnother() {
        Lease stale = lapsed();
        claimOne();
        return stale;
    }

    /** LEASED until second 30, with a successor that says second, due at second 10. */
    Lease withSuccessor() {
        Lease lease = leased();
        send(follow("second", DELAY));
        return lease;
    }

    /** LEASED until second 30, and not to be retried. */
    Lease cancelled() {
        Lease lease = leased();
        cancel();
        return lease;
    }

    /** DEAD at second 0 of a failure; the lease names the letter. */
    Lease dead() {
        Lease lease = leased();
        deadLetter(lease);
        return lease;
    }

    /**
     * Three messages of group g, called x, y and z, that are due at the seconds 1, 2 and
     * 3; it is second 10 then.
     */
    void threeOfAGroup() {
        send(GroupValues.grouped("g", "z", Duration.ofSeconds(3)));
        send(GroupValues.grouped("g", "x", Duration.ofSeconds(1)));
        send(GroupValues.grouped("g", "y", Duration.ofSeconds(2)));
        advance(DELAY);
    }

    // What a case does.

    SendResult send(NewMessage message) {
        return await(store().schedule(HOME, List.of(message))).get(0);
    }

    List<SendResult> sendAll(List<NewMessage> messages) {
        return await(store().schedule(HOME, messages));
    }

    Claimed claim() {
        return claim(MessageStore.BATCH_LIMIT, LEASE, ExpiryPolicy.DROP);
    }

    Claimed claim(int limit, Duration leaseTime, ExpiryPolicy policy) {
        return claim(new ClaimRequest(limit, leaseTime, policy));
    }

    Claimed claim(ClaimRequest request) {
        return Claimed.of(await(store().claim(QUEUE, request)));
    }

    /** What is claimed and acknowledged until nothing is due, in that order. */
    List<String> drained() {
        List<String> ids = new ArrayList<>();
        for (Claimed claim = claim(); !claim.ids().isEmpty(); claim = claim()) {
            ids.addAll(claim.ids());
            acknowledgeAll(claim.leases());
        }
        return ids;
    }

    /** The lease of the one message that is due. */
    Lease claimOne() {
        return claim().messages().get(0).lease();
    }

    boolean acknowledge(Lease lease) {
        return await(store().acknowledge(QUEUE, List.of(lease))).get(0);
    }

    List<Boolean> acknowledgeAll(List<Lease> leases) {
        return await(store().acknowledge(QUEUE, leases));
    }

    boolean extend(Lease lease, Duration leaseTime) {
        return await(store().extend(QUEUE, List.of(lease), leaseTime)).get(0);
    }

    boolean start(Lease lease) {
        return await(store().start(lease));
    }

    boolean retry(Lease lease) {
        return await(store().retry(lease, DELAY, "failure"));
    }

    boolean retry(Lease lease, Duration delay, String failure) {
        return await(store().retry(lease, delay, failure));
    }

    boolean release(Lease lease) {
        return release(lease, Duration.ZERO);
    }

    boolean release(Lease lease, Duration delay) {
        return await(store().release(QUEUE, List.of(lease), delay)).get(0);
    }

    /** Gives a message back whose attempt was due then, and was not begun. */
    boolean giveBack(Lease lease, Instant due) {
        return await(store().release(QUEUE, List.of(new DueLease(lease, due)))).get(0);
    }

    /** Gives back what a claim brought. */
    List<Boolean> giveBack(Claimed claim) {
        return await(store().release(QUEUE,
                claim.messages().stream().map((taken) -> new DueLease(taken.lease(), taken.dueAt())).toList()));
    }

    List<Boolean> releaseAll(List<Lease> leases) {
        return await(store().release(QUEUE, leases, Duration.ZERO));
    }

    boolean deadLetter(Lease lease) {
        return deadLetter(lease, new DeadLetterReason("failure", true, at(0)));
    }

    boolean deadLetter(Lease lease, DeadLetterReason death) {
        return await(store().deadLetter(lease, death));
    }

    CancelResult cancel() {
        return cancel(ID);
    }

    CancelResult cancel(String id) {
        return await(store().cancel(HOME, id));
    }

    RescheduleResult reschedule(Duration delay) {
        return reschedule(ID, delay);
    }

    RescheduleResult reschedule(String id, Duration delay) {
        return await(store().reschedule(HOME, id, DueTime.after(delay)));
    }

    RedriveResult redrive(Lease lease) {
        return await(store().redrive(HOME, lease.letterId()));
    }

    boolean purge(Lease lease) {
        return await(store().purge(QUEUE, lease.letterId()));
    }

    int purgeOlderThan(Duration age) {
        return await(store().purgeOlderThan(QUEUE, age));
    }

    Optional<StoredMessage> find() {
        return find(ID);
    }

    Optional<StoredMessage> find(String id) {
        return await(this.contract.inspector().find(HOME, id));
    }

    QueueStatistics statistics() {
        return await(this.contract.inspector().statistics(QUEUE));
    }

    List<DeadLetter> letters() {
        return letters(null, MessageStore.BATCH_LIMIT).letters();
    }

    Optional<DeadLetter> letter(String letterId) {
        return await(this.contract.inspector().deadLetter(QUEUE, letterId));
    }

    DeadLetterPage letters(@Nullable String cursor, int limit) {
        return await(this.contract.inspector().deadLetters(QUEUE, cursor, limit));
    }

    void advance(Duration time) {
        this.contract.clock().advance(time);
    }

    /** Makes a call take place twice; the answer of the second time. */
    <T> T replay(Supplier<T> call) {
        return this.contract.replay(call);
    }

    /** The same for a send or a redrive; skips the case if that is not possible. */
    <T> T replayStamped(Supplier<T> call) {
        Assumptions.assumeTrue(this.contract.replaysStamps(), "this store knows no repeated sends");
        return this.contract.replay(call);
    }

    Bell listen() {
        Bell bell = new Bell();
        bell.subscription = this.contract.wakeUps().listen(QUEUE, (signal) -> bell.rung.release());
        if (this.contract.ringsWhenSubscribed()) {
            bell.rings();
        }
        return bell;
    }

    /** Ends all messages and dead letters, if there are any, and looks for leaks. */
    void finish() {
        QueueStatistics left = statistics();
        if (left.scheduled() + left.leased() + left.dead() > 0) {
            advance(Duration.ofDays(1_000));
            for (Claimed claim = claim(); claim.nextAt() != null; claim = claim()) {
                if (!claim.leases().isEmpty()) {
                    acknowledgeAll(claim.leases());
                }
            }
            while (purgeOlderThan(Duration.ZERO) > 0) {
                continue;
            }
        }
        this.contract.assertNothingLeft();
    }

    private MessageStore store() {
        return this.contract.store();
    }

    private static <T> T await(CompletableFuture<T> answer) {
        try {
            return answer.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        }
        catch (ExecutionException | InterruptedException | TimeoutException ex) {
            throw new AssertionError("The store gave no answer", ex);
        }
    }

    /** Counts wake-ups. */
    static final class Bell implements AutoCloseable {

        private final Semaphore rung = new Semaphore(0);

        private WakeUps.@Nullable Subscription subscription;

        /** Whether it has rung since this was last asked, or does so before long. */
        boolean rings() {
            try {
                boolean rings = this.rung.tryAcquire(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
                this.rung.drainPermits();
                return rings;
            }
            catch (InterruptedException ex) {
                throw new AssertionError(ex);
            }
        }

        boolean hasRung() {
            return this.rung.tryAcquire();
        }

        @Override
        public void close() {
            if (this.subscription != null) {
                this.subscription.close();
            }
        }

    }

}
