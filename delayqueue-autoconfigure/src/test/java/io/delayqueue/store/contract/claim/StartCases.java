package io.delayqueue.store.contract.claim;

import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.ClaimedMessageValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.Lease;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.firstAttempt;
import static io.delayqueue.fixtures.store.StoreValues.lease;
import static io.delayqueue.fixtures.store.StoreValues.neverGiven;
import static io.delayqueue.fixtures.store.StoreValues.redelivered;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code start}, in each state. */
public abstract class StartCases extends StoreCases {

    public StartCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void isRefusedWhereTheQueueDoesNotHoldTheMessage() {
        assertThat(this.dq.start(neverGiven())).isFalse();
    }

    @Test
    void isRefusedForAMessageThatWaits() {
        this.dq.scheduled();

        assertThat(this.dq.start(neverGiven())).isFalse();

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void isRefusedForAMessageThatIsDue() {
        this.dq.due();

        assertThat(this.dq.start(neverGiven())).isFalse();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(firstAttempt("first", at(0))));
    }

    @Test
    void makesALapseCount() {
        this.dq.lapsed();
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.start(lease)).isTrue();

        this.dq.advance(LEASE);
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(redelivered(at(60), 0, 1)));
    }

    @Test
    void isRefusedOnceTheMessageIsLeasedByAnother() {
        Lease stale = this.dq.leasedByAnother();

        assertThat(this.dq.start(stale)).isFalse();

        this.dq.advance(LEASE);
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(redelivered(at(60), 0, 0)));
    }

    @Test
    void countsALapseThatIsNotEndedYet() {
        Lease lease = this.dq.lapsed();

        assertThat(this.dq.start(lease)).isTrue();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(redelivered(at(30), 0, 1)));
    }

    @Test
    void isRefusedOnceTheLapseWasNoticed() {
        Lease stale = this.dq.noticed();

        assertThat(this.dq.start(stale)).isFalse();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(redelivered(at(30), at(30), 0, 0)));
    }

    @Test
    void keepsASuccessor() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.start(lease)).isTrue();

        this.dq.advance(LEASE);
        assertThat(this.dq.claim().messages())
            .containsExactly(new ClaimedMessageValues(lease(at(60)), at(10), 0, 0, false, null, null, "second"));
    }

    @Test
    void doesNotUndoACancel() {
        Lease lease = this.dq.cancelled();

        assertThat(this.dq.start(lease)).isTrue();

        this.dq.advance(LEASE);
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(null));
    }

    @Test
    void isRefusedForADeadLetter() {
        Lease lease = this.dq.dead();

        assertThat(this.dq.start(lease)).isFalse();
    }

    @Test
    void countsOnceWhenRepeated() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.replay(() -> this.dq.start(lease))).isTrue();

        this.dq.advance(LEASE);
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(redelivered(at(30), 0, 1)));
    }

    @Test
    void isNeededForALapseToCount() {
        this.dq.lapsed();
        this.dq.claim();

        this.dq.advance(LEASE);

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(redelivered(at(60), 0, 0)));
    }

    @Test
    void holdsForOneLease() {
        this.dq.start(this.dq.leased());
        this.dq.advance(LEASE);
        this.dq.claim();

        this.dq.advance(LEASE);

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(redelivered(at(60), 0, 1)));
    }

    @Test
    void doesNotMakeALeaseItsHoldersAgainOnceItIsOver() {
        Lease stale = this.dq.leased();
        this.dq.start(stale);
        this.dq.advance(LEASE);
        this.dq.claim();

        assertThat(this.dq.retry(stale)).isFalse();
    }

}
