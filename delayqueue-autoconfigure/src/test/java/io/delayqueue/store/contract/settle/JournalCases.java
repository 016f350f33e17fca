package io.delayqueue.store.contract.settle;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetter;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.OnDuplicate;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.store.ClaimedMessageValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.FailedAttempts;
import io.delayqueue.store.Lease;
import io.delayqueue.store.LedgerChange;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerEntry.Kind;
import io.delayqueue.store.NewMessage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.GroupValues.dueAt;
import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.ID;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.envelope;
import static io.delayqueue.fixtures.store.StoreValues.expiring;
import static io.delayqueue.fixtures.store.StoreValues.follow;
import static io.delayqueue.fixtures.store.StoreValues.held;
import static io.delayqueue.fixtures.store.StoreValues.keep;
import static io.delayqueue.fixtures.store.StoreValues.replace;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** Messages that have a row in a journal: their ends, and offers of the rows. */
public abstract class JournalCases extends StoreCases {

    private static final String JOURNAL = "journal-1";

    private static final LedgerEntry FIRST = LedgerEntry.ended(7, ID);

    private static final LedgerEntry FAILURE = new LedgerEntry(Kind.FAILED, 7, ID);

    private static final LedgerEntry SECOND = LedgerEntry.ended(8, ID);

    public JournalCases(StoreFixture contract) {
        super(contract);
    }

    @BeforeEach
    void restoreThePartition() {
        this.dq.restored(JOURNAL);
    }

    @Test
    void anAcknowledgedMessageHasEnded() {
        Lease lease = leasedOfJournal();
        assertThat(ended()).isEmpty();

        assertThat(this.dq.acknowledge(lease)).isTrue();

        assertThat(ended()).containsExactly(FIRST);
        forget(FIRST);
    }

    @Test
    void aCancelledMessageHasEnded() {
        this.dq.offer(keep("first", DELAY), 7);

        assertThat(this.dq.cancel(8)).isEqualTo(CancelResult.CANCELLED);

        assertThat(ended()).containsExactly(FIRST);
        forget(FIRST);
    }

    @Test
    void anExpiredMessageHasEnded() {
        this.dq.offer(expiring(ID, Duration.ofSeconds(1)), 7);
        this.dq.advance(DELAY);

        this.dq.claim(1, LEASE, ExpiryPolicy.DROP);

        assertThat(ended()).containsExactly(FIRST);
        forget(FIRST);
    }

    /** P1: the row is deleted by the node that records the dead letter, not before. */
    @Test
    void aDeadLetterIsRecorded() {
        Lease lease = leasedOfJournal();
        this.dq.deadLetter(lease);

        LedgerChange change = this.dq.changes(JOURNAL).changes().get(0);
        assertThat(change.entry()).isEqualTo(dead(lease));
        assertThat(change.value()).isNotEmpty();
        assertThat(ended()).isEmpty();
        assertThat(this.dq.offer(replace("first", DELAY), 7).outcome()).isEqualTo(SendOutcome.KEPT);

        forget(dead(lease));
        this.dq.purge(lease);
        forget(removal(lease));
    }

    @Test
    void aDeadLetterThatWasRemovedBeforeItWasRecordedIsRemovedAgain() {
        Lease lease = leasedOfJournal();
        this.dq.deadLetter(lease);
        this.dq.changes(JOURNAL);
        this.dq.purge(lease);
        assertThat(ended()).containsExactly(removal(lease));

        forget(removal(lease));
        assertThat(this.dq.changes(JOURNAL, dead(lease)).entries()).containsExactly(removal(lease));

        forget(removal(lease));
    }

    @Test
    void aRedrivenDeadLetterIsRemoved() {
        Lease lease = leasedOfJournal();
        this.dq.deadLetter(lease);
        forget(dead(lease));

        this.dq.redrive(lease);

        assertThat(ended()).containsExactly(removal(lease));
        this.dq.cancel();
        forget(removal(lease));
    }

    /** P1: also the dead letters of a journal can be restored. */
    @Test
    void aDeadLetterIsRestored() {
        Lease lease = leasedOfJournal();
        this.dq.deadLetter(lease);
        byte[] content = this.dq.changes(JOURNAL).changes().get(0).value();
        DeadLetter before = this.dq.deadLetters().get(0);
        assertThat(restored(lease, content)).isZero();
        this.dq.purge(lease);

        assertThat(restored(lease, content)).as("purged").isZero();
        forget(dead(lease));
        forget(removal(lease));
        assertThat(this.dq.restoringDeadLetter(Duration.ofMillis(-1), lease.deadLetterId(), content))
            .failsWithin(LEASE);
        assertThat(restored(lease, content)).as("lost").isOne();

        assertThat(this.dq.deadLetters()).containsExactly(before);
        this.dq.purge(lease);
        assertThat(restored(lease, content)).as("purged again").isZero();
        forget(removal(lease));
    }

    private int restored(Lease lease, byte[] content) {
        return this.dq.restoringDeadLetter(LEASE, lease.deadLetterId(), content).join();
    }

    /** P9: an attempt that was recorded is not repeated. */
    @Test
    void aFailureIsRecordedAndRestored() {
        this.dq.retry(leasedOfJournal());

        LedgerChange change = this.dq.changes(JOURNAL).changes().get(0);
        assertThat(change.entry()).isEqualTo(FAILURE);
        assertThat(change.failures()).isOne();
        assertThat(change.dueMillis()).isNotNull();
        this.dq.cancel();
        forget(FAILURE);
        forget(FIRST);

        assertThat(this.dq.restore(keep("first", Duration.ZERO), 7, 1).outcome()).isEqualTo(SendOutcome.SCHEDULED);
        assertThat(this.dq.claim(1, LEASE, ExpiryPolicy.DROP).messages()).singleElement()
            .extracting(ClaimedMessageValues::failures)
            .isEqualTo(1);
        this.dq.cancel();
        this.dq.advance(LEASE.plusSeconds(1));
        this.dq.claim(1, LEASE, ExpiryPolicy.DROP);
        forget(FIRST);
    }

    /**
     * P10, P11: a message that is restored late has its place in its group, and expires.
     */
    @Test
    void aRestoredMessageIsDueWhenItWas() {
        this.dq.advance(DELAY.multipliedBy(2));

        assertThat(this.dq.restore(dueAt("g", "second", at(9)), 8, 0).dueAt()).isEqualTo(at(9));
        this.dq.restore(dueAt("g", "first", at(1)), 7, 0);
        this.dq.restore(new NewMessage("expired", false, DueTime.at(at(5)), OnDuplicate.KEEP, 5, DELAY, null,
                envelope("expired")), 9, 0);
        assertThat(this.dq.offer(dueAt("h", "sent", at(2)), 10).dueAt()).isEqualTo(at(20));

        assertThat(this.dq.drained()).hasSize(3).containsSubsequence("first", "second");
        assertThat(this.dq.statistics().scheduled()).isZero();
        this.dq.changes(JOURNAL, this.dq.changes(JOURNAL).entries().toArray(LedgerEntry[]::new));
        this.dq.advance(DELAY.plusSeconds(1));
        assertThat(this.dq.changes(JOURNAL).backlog()).isZero();
    }

    @Test
    void aFailureAfterTheOneThatIsBeingRecordedIsReturned() {
        this.dq.retry(leasedOfJournal());
        this.dq.changes(JOURNAL);
        this.dq.advance(DELAY);
        this.dq.retry(this.dq.claimOne());

        LedgerChange second = this.dq.changes(JOURNAL, FAILURE).changes().get(0);

        assertThat(second.entry()).isEqualTo(FAILURE);
        assertThat(second.failures()).isEqualTo(2);
        this.dq.cancel();
        forget(FAILURE);
        forget(FIRST);
    }

    /**
     * P3, P11: a restored message waits for its retry, keeps its place in its group, and
     * expires when it would have.
     */
    @Test
    void aRestoredMessageWaitsForItsRetry() {
        NewMessage first = new NewMessage("first", false, DueTime.at(at(1)), OnDuplicate.KEEP, 5,
                Duration.ofSeconds(30), "g", envelope("first"));
        this.dq.restore(first, 7, new FailedAttempts(1, at(20).toEpochMilli()));
        this.dq.restore(dueAt("g", "second", at(2)), 8, 0);

        assertThat(this.dq.find("first").orElseThrow().dueAt()).isEqualTo(at(20));
        assertThat(this.dq.offer(first, 7).dueAt()).as("its own, which the row gets").isEqualTo(at(1));
        assertThat(this.dq.find("first").orElseThrow().expiresAt()).isEqualTo(at(31));
        this.dq.advance(DELAY);
        assertThat(this.dq.claim(2, LEASE, ExpiryPolicy.DROP).messages()).isEmpty();
        this.dq.advance(DELAY);
        assertThat(this.dq.drained()).containsExactly("first", "second");
        this.dq.changes(JOURNAL, this.dq.changes(JOURNAL).entries().toArray(LedgerEntry[]::new));
        this.dq.advance(DELAY.plusSeconds(1));
        assertThat(this.dq.changes(JOURNAL).backlog()).isZero();
    }

    /** P2: a record of the due time before a reschedule is followed by one of the new. */
    @Test
    void aRescheduledRetryIsRecorded() {
        this.dq.retry(leasedOfJournal());
        this.dq.changes(JOURNAL);

        assertThat(this.dq.rescheduling(8, DELAY.multipliedBy(3))).succeedsWithin(LEASE);

        LedgerChange change = this.dq.changes(JOURNAL, FAILURE).changes().get(0);
        assertThat(change.entry()).isEqualTo(FAILURE);
        assertThat(change.dueMillis()).isEqualTo(this.dq.find().orElseThrow().dueAt().toEpochMilli());
        this.dq.cancel();
        forget(FAILURE);
        forget(FIRST);
    }

    private static LedgerEntry dead(Lease lease) {
        return new LedgerEntry(Kind.DEAD_LETTERED, 7, lease.deadLetterId());
    }

    private static LedgerEntry removal(Lease lease) {
        return new LedgerEntry(Kind.DEAD_LETTER_REMOVED, 0, lease.deadLetterId());
    }

    @Test
    void aReplacedMessageHasEnded() {
        this.dq.offer(keep("first", DELAY), 7);

        assertThat(this.dq.offer(replace("second", DELAY), 8).outcome()).isEqualTo(SendOutcome.REPLACED);

        assertThat(ended()).containsExactly(FIRST);
        this.dq.cancel();
        forget(FIRST);
        forget(SECOND);
    }

    @Test
    void aMessageEndsWhenItsSuccessorBegins() {
        Lease lease = leasedOfJournal();
        this.dq.offer(follow("second", Duration.ZERO), 8);
        assertThat(ended()).isEmpty();

        this.dq.acknowledge(lease);
        assertThat(ended()).containsExactly(FIRST);
        this.dq.acknowledge(this.dq.claimOne());

        assertThat(ended()).containsExactly(SECOND);
        forget(FIRST);
        forget(SECOND);
    }

    @Test
    void aReplacedSuccessorHasEnded() {
        Lease lease = leasedOfJournal();
        this.dq.offer(follow("second", DELAY), 8);

        this.dq.offer(replace("third", DELAY), 9);

        assertThat(ended()).containsExactly(SECOND);
        this.dq.cancel();
        this.dq.acknowledge(lease);
        forget(SECOND);
        forget(FIRST);
        forget(LedgerEntry.ended(9, ID));
    }

    @Test
    void aCancelledSuccessorHasEnded() {
        Lease lease = leasedOfJournal();
        this.dq.offer(follow("second", DELAY), 8);

        assertThat(this.dq.cancel(9)).isEqualTo(CancelResult.LEASED);

        assertThat(ended()).containsExactly(SECOND);
        this.dq.acknowledge(lease);
        forget(SECOND);
        forget(FIRST);
    }

    @Test
    void aRetriedMessageHasNotEnded() {
        Lease lease = leasedOfJournal();

        this.dq.retry(lease);

        assertThat(ended()).containsExactly(FAILURE);
        this.dq.cancel();
        forget(FAILURE);
        forget(FIRST);
    }

    @Test
    void aMessageThatHasEndedIsNotStoredAgain() {
        this.dq.acknowledge(leasedOfJournal());

        assertThat(this.dq.offer(keep("first", DELAY), 7).outcome()).isEqualTo(SendOutcome.KEPT);

        assertThat(this.dq.find()).isEmpty();
        assertThat(ended()).containsExactly(FIRST);
        forget(FIRST);
    }

    @Test
    void aMessageIsRememberedForAWhileAfterItsRowWasDeleted() {
        this.dq.acknowledge(leasedOfJournal());
        ended();

        this.dq.changes(JOURNAL, FIRST);
        assertThat(this.dq.offer(keep("first", DELAY), 7).outcome()).isEqualTo(SendOutcome.KEPT);
        this.dq.advance(DELAY.plusSeconds(1));
        assertThat(ended()).isEmpty();

        assertThat(this.dq.offer(keep("first", DELAY), 7).outcome()).isEqualTo(SendOutcome.SCHEDULED);
        this.dq.cancel();
        forget(FIRST);
    }

    @Test
    void aLaterRevisionIsStoredAfterTheEnd() {
        this.dq.acknowledge(leasedOfJournal());

        assertThat(this.dq.offer(keep("second", DELAY), 8).outcome()).isEqualTo(SendOutcome.SCHEDULED);

        this.dq.cancel();
        forget(FIRST);
        forget(SECOND);
    }

    /** P3: its own due time may not be stored, so nothing moves a retry forward. */
    @Test
    void aRetryIsNotMovedForward() {
        this.dq.retry(leasedOfJournal());
        Instant due = this.dq.offer(keep("first", Duration.ZERO), 7).dueAt();

        assertThat(this.dq.reschedule(7, Duration.ZERO, due)).isEqualTo(RescheduleResult.NOT_FOUND);
        assertThat(this.dq.reschedule(7, DELAY.multipliedBy(3), due)).isEqualTo(RescheduleResult.RESCHEDULED);
        this.dq.cancel();
        forget(FAILURE);
        forget(FIRST);
    }

    @Test
    void anOfferFindsItsRevisionWaitingAndLeasedAndAsASuccessor() {
        this.dq.offer(keep("first", Duration.ZERO), 7);
        assertThat(this.dq.offer(replace("first", DELAY), 7).outcome()).isEqualTo(SendOutcome.RECORDED);
        Lease lease = this.dq.claimOne();
        assertThat(this.dq.offer(replace("first", DELAY), 7).outcome()).isEqualTo(SendOutcome.RECORDED);
        this.dq.offer(follow("second", DELAY), 8);
        assertThat(this.dq.offer(replace("second", DELAY), 8).outcome()).isEqualTo(SendOutcome.RECORDED);

        assertThat(this.dq.find()).contains(held("first", at(30)));
        this.dq.acknowledge(lease);
        this.dq.cancel();
        forget(FIRST);
        forget(SECOND);
    }

    @Test
    void anEarlierRevisionDoesNotReplaceALaterOne() {
        this.dq.offer(keep("second", DELAY), 8);

        assertThat(this.dq.offer(replace("first", DELAY), 7).outcome()).isEqualTo(SendOutcome.KEPT);
        assertThat(this.dq.cancel(7)).isEqualTo(CancelResult.NOT_FOUND);
        assertThat(this.dq.rescheduling(7, LEASE)).succeedsWithin(LEASE).isEqualTo(RescheduleResult.NOT_FOUND);

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
        this.dq.cancel();
        forget(SECOND);
    }

    /** P1, P6: a call that was held up changes nothing. */
    @Test
    void anOfferAfterItsDeadlineIsRejected() {
        this.dq.offer(keep("first", DELAY), 7);
        Duration past = Duration.ofMillis(-1);
        NewMessage unique = new NewMessage("b", true, DueTime.NOW, OnDuplicate.KEEP, 5, null, null, envelope("b"));

        for (CompletableFuture<?> late : List.of(this.dq.offering(replace("second", LEASE), 8, past),
                this.dq.offering(unique, 9, past), this.dq.cancelling(8, past), this.dq.rescheduling(8, past))) {
            assertThat(late).failsWithin(LEASE)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(DelayQueueException.class,
                        (failure) -> assertThat(failure.effect()).isEqualTo(Effect.NONE));
        }

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
        this.dq.cancel();
        forget(FIRST);
    }

    private Lease leasedOfJournal() {
        this.dq.offer(keep("first", Duration.ZERO), 7);
        return this.dq.claimOne();
    }

    /** Returns all messages that have ended, in this call or before. */
    private List<LedgerEntry> ended() {
        List<LedgerEntry> all = new ArrayList<>();
        for (List<LedgerEntry> page = this.dq.changes(JOURNAL).entries(); !page
            .isEmpty(); page = this.dq.changes(JOURNAL).entries()) {
            all.addAll(page);
        }
        return all;
    }

    private void forget(LedgerEntry message) {
        this.dq.changes(JOURNAL, message);
        this.dq.advance(DELAY.plusSeconds(1));
        this.dq.changes(JOURNAL);
    }

}
