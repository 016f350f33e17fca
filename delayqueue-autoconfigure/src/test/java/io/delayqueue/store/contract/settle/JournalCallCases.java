package io.delayqueue.store.contract.settle;

import java.time.Duration;
import java.util.List;

import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.LedgerChanges;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerEntry.Kind;
import io.delayqueue.store.LedgerRequest;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.ID;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.keep;
import static org.assertj.core.api.Assertions.assertThat;

/** Calls of journals: which changes each gets. */
public abstract class JournalCallCases extends StoreCases {

    private static final String JOURNAL = "journal-1";

    private static final LedgerEntry FIRST = LedgerEntry.ended(7, ID);

    public JournalCallCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void anEndedMessageIsReturnedToOneCallerAtATime() {
        acknowledgeOne();

        assertThat(this.dq.changes(JOURNAL).entries()).containsExactly(FIRST);
        assertThat(this.dq.changes(JOURNAL).entries()).isEmpty();
        this.dq.advance(LEASE.plusSeconds(1));

        assertThat(this.dq.changes(JOURNAL).entries()).containsExactly(FIRST);
        forget();
    }

    @Test
    void callsAreCountedAndAnotherJournalIsRejected() {
        acknowledgeOne();
        long count = this.dq.changes(JOURNAL).count();
        this.dq.advance(LEASE.plusSeconds(1));

        LedgerChanges other = this.dq.changes("journal-2", FIRST);

        assertThat(other.journal()).isEqualTo(JOURNAL);
        assertThat(other.entries()).isEmpty();
        LedgerChanges own = this.dq.changes(JOURNAL);
        assertThat(own.count()).isEqualTo(count + 1);
        assertThat(own.backlog()).isOne();
        assertThat(own.entries()).containsExactly(FIRST);
        forget();
    }

    /** P1: the node that restores a partition may end before it has. */
    @Test
    void aPartitionIsLostUntilItWasRestored() {
        LedgerEntry lost = this.dq.changes(JOURNAL).entries().get(0);
        assertThat(lost.kind()).isEqualTo(Kind.LOST);
        assertThat(this.dq.changes(JOURNAL).entries()).isEmpty();
        this.dq.advance(LEASE.plusSeconds(1));

        assertThat(this.dq.changes(JOURNAL).entries()).containsExactly(lost);
        this.dq.changes(JOURNAL, lost);

        this.dq.advance(LEASE.plusSeconds(1));
        LedgerChanges restored = this.dq.changes(JOURNAL);
        assertThat(restored.entries()).isEmpty();
        assertThat(restored.backlog()).isZero();
    }

    /** P1: data that the same server has lost are noticed by one node, which may end. */
    @Test
    void aPartitionIsLostIfACallNamesAGreaterCountThanItsOwn() {
        this.dq.restored(JOURNAL);
        long count = this.dq.changesAfter(JOURNAL, 0).count();
        assertThat(this.dq.changesAfter(JOURNAL, count)).satisfies((changes) -> {
            assertThat(changes.count()).isEqualTo(count + 1);
            assertThat(changes.entries()).isEmpty();
        });

        LedgerChanges lost = this.dq.changesAfter(JOURNAL, count + 10);

        assertThat(lost.count()).isEqualTo(count + 1010);
        assertThat(lost.entries()).extracting(LedgerEntry::kind).containsExactly(Kind.LOST);
        LedgerChanges other = this.dq.changesAfter(JOURNAL, count + 12);
        assertThat(other.count()).isEqualTo(count + 1011);
        assertThat(other.entries()).isEmpty();
        this.dq.advance(LEASE.plusSeconds(1));
        assertThat(this.dq.changesAfter(JOURNAL, count + 1011).entries()).isEqualTo(lost.entries());
        this.dq.changes(JOURNAL, lost.entries().get(0));
    }

    /** P1: nothing is returned to a database that was restored from a backup. */
    @Test
    void aJournalThatIsOlderThanTheStoreIsRejected() {
        long loss = LedgerRequest.MAX_LOSS.toMillis();
        acknowledgeOne();
        LedgerChanges before = this.dq.changes(JOURNAL, 1_000_000 + loss);
        this.dq.changes(JOURNAL, 1_000_000);
        this.dq.advance(LEASE.plusSeconds(1));

        LedgerChanges older = this.dq.changes(JOURNAL, 999_999, FIRST);

        assertThat(older).isEqualTo(new LedgerChanges(JOURNAL, before.count() + 1, 1_000_000 + loss, 0, List.of()));
        LedgerChanges own = this.dq.changes(JOURNAL, 1_000_000);
        assertThat(own.committedAt()).isEqualTo(1_000_000 + loss);
        assertThat(own.entries()).containsExactly(FIRST);
        this.dq.changes(JOURNAL, 1_000_000, FIRST);
        this.dq.advance(DELAY.plusSeconds(1));
        LedgerChanges last = this.dq.changes(JOURNAL, 2_000_000 + loss);
        assertThat(last.committedAt()).isEqualTo(2_000_000 + loss);
        assertThat(last.backlog()).isZero();
    }

    /** Acknowledges a message of a partition that a journal has restored. */
    private void acknowledgeOne() {
        this.dq.restored(JOURNAL);
        this.dq.offer(keep("first", Duration.ZERO), 7);
        this.dq.acknowledge(this.dq.claimOne());
    }

    private void forget() {
        this.dq.changes(JOURNAL, FIRST);
        this.dq.advance(DELAY.plusSeconds(1));
        this.dq.changes(JOURNAL);
    }

}
