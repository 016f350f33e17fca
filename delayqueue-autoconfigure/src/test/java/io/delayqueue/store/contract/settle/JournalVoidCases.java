package io.delayqueue.store.contract.settle;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetter;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.HeldRevision;
import io.delayqueue.store.Lease;
import io.delayqueue.store.LedgerChanges;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.OfferConditions;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.ID;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.follow;
import static io.delayqueue.fixtures.store.StoreValues.keep;
import static io.delayqueue.fixtures.store.StoreValues.replace;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Offers that make earlier messages void, which the store may have lost: another node may
 * have read their rows before, and offers them afterwards.
 */
public abstract class JournalVoidCases extends StoreCases {

    private static final String JOURNAL = "journal-1";

    public JournalVoidCases(StoreFixture contract) {
        super(contract);
    }

    /** P6: what is cancelled while a restore is about to offer it is not stored. */
    @Test
    void aCancelKeepsOutWhatTheStoreHasLost() {
        this.dq.restored(JOURNAL);

        assertThat(this.dq.cancel(20, 10L)).isEqualTo(CancelResult.NOT_FOUND);

        assertThat(this.dq.restore(keep("old", Duration.ZERO), 10, 0).outcome()).isEqualTo(SendOutcome.KEPT);
        assertThat(this.dq.changes(JOURNAL).entries()).isEmpty();
        forget();
        assertThat(this.dq.restore(keep("old", Duration.ZERO), 10, 0).outcome()).isEqualTo(SendOutcome.SCHEDULED);
        end(10);
    }

    /** The same for a replaced message, also after the replacement has ended. */
    @Test
    void aReplacementKeepsOutWhatTheStoreHasLost() {
        this.dq.restored(JOURNAL);

        assertThat(this.dq.offer(replace("new", Duration.ZERO), 20, 10L).outcome()).isEqualTo(SendOutcome.SCHEDULED);
        record(20);

        assertThat(this.dq.restore(keep("old", Duration.ZERO), 10, 0).outcome()).isEqualTo(SendOutcome.KEPT);
        forget();
    }

    /** P6: otherwise the sender stores it again, in the partition that follows. */
    @Test
    void aFormerPartitionKeepsOutWhatHasEnded() {
        this.dq.restored(JOURNAL);
        this.dq.offer(keep("old", Duration.ZERO), 10);
        record(10);

        assertThat(this.dq.offerIfHeld(keep("old", Duration.ZERO), 10)).map(SendResult::outcome)
            .hasValue(SendOutcome.KEPT);

        forget();
        assertThat(this.dq.offerIfHeld(keep("old", Duration.ZERO), 10)).isEmpty();
    }

    @Test
    void aVoidMessageThatIsThereEndsLikeAnother() {
        this.dq.restored(JOURNAL);
        this.dq.offer(keep("old", DELAY), 10);

        assertThat(this.dq.cancel(20, 10L)).isEqualTo(CancelResult.CANCELLED);

        LedgerEntry ended = LedgerEntry.ended(10, ID);
        assertThat(this.dq.changes(JOURNAL).entries()).containsExactly(ended);
        this.dq.changes(JOURNAL, ended);
        forget();
    }

    @Test
    void aSendThatIsKeptOutMakesNothingVoid() {
        this.dq.restored(JOURNAL);
        this.dq.offer(keep("old", Duration.ZERO), 10);

        assertThat(this.dq.offer(keep("new", DELAY), 20, 10L).outcome()).isEqualTo(SendOutcome.KEPT);

        assertThat(this.dq.held(LedgerEntry.ended(10, ID))).containsExactly(new HeldRevision(true, 10));
        end(10);
    }

    /** P2: a message that was moved meanwhile is not moved back. */
    @Test
    void aDueTimeIsChangedOnlyIfItIsTheExpectedOne() {
        this.dq.restored(JOURNAL);
        Instant due = this.dq.offer(keep("moved", DELAY), 10).dueAt();

        assertThat(this.dq.reschedule(10, DELAY.multipliedBy(3), due.plusMillis(1)))
            .isEqualTo(RescheduleResult.NOT_FOUND);
        assertThat(this.dq.find().orElseThrow().dueAt()).isEqualTo(due);
        assertThat(this.dq.reschedule(10, Duration.ZERO, due)).isEqualTo(RescheduleResult.RESCHEDULED);
        end(10);
    }

    @Test
    void theHeldRevisionsAreListedAndFound() {
        this.dq.restored(JOURNAL);
        this.dq.offer(keep("a", Duration.ZERO), 10);
        Lease lease = this.dq.claimOne();
        this.dq.offer(follow("b", Duration.ZERO), 15);

        assertThat(this.dq.revisions()).isEqualTo(Map.of(ID, 10L));
        assertThat(this.dq.successors()).isEqualTo(Map.of(ID, 15L));
        assertThat(this.dq.held(LedgerEntry.ended(9, ID), LedgerEntry.ended(10, ID), LedgerEntry.ended(15, ID),
                LedgerEntry.ended(16, ID), LedgerEntry.ended(16, "other")))
            .containsExactly(new HeldRevision(true, 10), new HeldRevision(true, 10), new HeldRevision(true, 10),
                    new HeldRevision(false, 10), new HeldRevision(false, 0));
        this.dq.acknowledge(lease);
        assertThat(this.dq.held(LedgerEntry.ended(10, ID))).containsExactly(new HeldRevision(true, 15));
        this.dq.changes(JOURNAL, this.dq.changes(JOURNAL).entries().toArray(LedgerEntry[]::new));
        end(15);
    }

    /** The backlog is known while a journal can record nothing. */
    @Test
    void theBacklogIsReadWithoutTakingChanges() {
        this.dq.restored(JOURNAL);
        this.dq.offer(keep("a", Duration.ZERO), 10);
        this.dq.acknowledge(this.dq.claimOne());

        LedgerChanges counted = this.dq.backlog(JOURNAL);

        assertThat(counted.backlog()).isOne();
        assertThat(counted.changes()).isEmpty();
        assertThat(this.dq.changes(JOURNAL).entries()).containsExactly(LedgerEntry.ended(10, ID));
        this.dq.changes(JOURNAL, LedgerEntry.ended(10, ID));
        forget();
    }

    /**
     * P1: a message that the store refuses becomes a dead letter that can be redriven.
     */
    @Test
    void aRefusedMessageBecomesADeadLetter() {
        NewMessage refused = replace("refused", DELAY);

        assertThat(this.dq.refuse(refused, ID + "~7", "another group")).isOne();
        assertThat(this.dq.refuse(refused, ID + "~7", "another group")).isZero();

        DeadLetter deadLetter = this.dq.deadLetters().get(0);
        assertThat(deadLetter.cause()).isEqualTo("another group");
        assertThat(deadLetter.messageId()).isEqualTo(ID);
        assertThat(this.dq.redrive(ID + "~7")).isEqualTo(RedriveResult.REDRIVEN);
        this.dq.acknowledge(this.dq.claimOne());
    }

    /** A node that restores for long keeps others from it. */
    @Test
    void aHeldEntryIsNotReturnedToOthers() {
        LedgerEntry lost = this.dq.changes(JOURNAL).entries().get(0);
        for (int i = 0; i < 3; i++) {
            this.dq.advance(LEASE.dividedBy(2).plusSeconds(1));
            assertThat(this.dq.holding(JOURNAL, lost).entries()).isEmpty();
        }
        this.dq.advance(LEASE.plusSeconds(1));
        assertThat(this.dq.changes(JOURNAL).entries()).containsExactly(lost);
        this.dq.changes(JOURNAL, lost);
    }

    /** Handles the message of a revision, and records that. */
    private void end(long revision) {
        record(revision);
        forget();
    }

    private void record(long revision) {
        this.dq.acknowledge(this.dq.claimOne());
        LedgerEntry ended = LedgerEntry.ended(revision, ID);
        assertThat(this.dq.changes(JOURNAL).entries()).containsExactly(ended);
        this.dq.changes(JOURNAL, ended);
    }

    private void forget() {
        this.dq.advance(OfferConditions.VOID_MEMORY.plusSeconds(1));
        this.dq.changes(JOURNAL);
    }

}
