package io.delayqueue.store.contract.settle;

import java.time.Duration;

import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.Lease;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.firstAttempt;
import static io.delayqueue.fixtures.store.StoreValues.held;
import static io.delayqueue.fixtures.store.StoreValues.neverGiven;
import static io.delayqueue.fixtures.store.StoreValues.redelivered;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code extend}, in each state. */
public abstract class ExtendCases extends StoreCases {

    public ExtendCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void isRefusedWhereTheQueueDoesNotHoldTheMessage() {
        assertThat(this.dq.extend(neverGiven(), LEASE)).isFalse();
    }

    @Test
    void isRefusedForAMessageThatWaits() {
        this.dq.scheduled();

        assertThat(this.dq.extend(neverGiven(), LEASE)).isFalse();

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void isRefusedForAMessageThatIsDue() {
        this.dq.due();

        assertThat(this.dq.extend(neverGiven(), LEASE)).isFalse();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(firstAttempt("first", at(0))));
    }

    @Test
    void makesALeaseLastLongerFromNowOn() {
        Lease lease = this.dq.leased();
        this.dq.advance(DELAY);

        assertThat(this.dq.extend(lease, LEASE)).isTrue();

        assertThat(this.dq.find()).contains(held("first", at(40)));
        this.dq.advance(Duration.ofMillis(29_999));
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(40)));
        this.dq.advance(Duration.ofMillis(1));
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(redelivered(at(40), at(0), 0, 0)));
    }

    @Test
    void neverShortensALease() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.extend(lease, DELAY)).isTrue();

        assertThat(this.dq.find()).contains(held("first", at(30)));
        assertThat(this.dq.acknowledge(lease)).isTrue();
    }

    @Test
    void isRefusedOnceTheMessageIsLeasedByAnother() {
        Lease stale = this.dq.leasedByAnother();

        assertThat(this.dq.extend(stale, Duration.ofMinutes(1))).isFalse();

        assertThat(this.dq.find()).contains(held("first", at(60)));
    }

    @Test
    void extendsALapsedLease() {
        Lease lease = this.dq.lapsed();

        assertThat(this.dq.extend(lease, LEASE)).isTrue();

        assertThat(this.dq.find()).contains(held("first", at(60)));
    }

    @Test
    void isRefusedOnceTheLapseWasNoticed() {
        Lease stale = this.dq.noticed();

        assertThat(this.dq.extend(stale, LEASE)).isFalse();

        assertThat(this.dq.find()).contains(waiting("first", at(30)));
    }

    @Test
    void keepsASuccessor() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.extend(lease, Duration.ofMinutes(1))).isTrue();

        assertThat(this.dq.find()).contains(held("first", at(60)));
        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void doesNotUndoACancel() {
        Lease lease = this.dq.cancelled();

        assertThat(this.dq.extend(lease, Duration.ofMinutes(1))).isTrue();

        assertThat(this.dq.retry(lease)).isTrue();
        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void isRefusedForADeadLetter() {
        Lease lease = this.dq.dead();

        assertThat(this.dq.extend(lease, LEASE)).isFalse();
    }

    @Test
    void answersARepeatedCallAsTheFirst() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.replay(() -> this.dq.extend(lease, Duration.ofMinutes(1)))).isTrue();

        assertThat(this.dq.find()).contains(held("first", at(60)));
    }

    @Test
    void fencesTheTokenOfALeaseThatWasExtendedAndRanOut() {
        Lease stale = this.dq.leased();
        this.dq.extend(stale, Duration.ofMinutes(1));
        this.dq.advance(Duration.ofMinutes(1));
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.acknowledge(stale)).isFalse();

        assertThat(this.dq.acknowledge(lease)).isTrue();
    }

    @Test
    void canBeRepeatedAtWill() {
        Lease lease = this.dq.leased();
        this.dq.extend(lease, Duration.ofMinutes(1));
        this.dq.advance(DELAY);

        assertThat(this.dq.extend(lease, Duration.ofMinutes(1))).isTrue();

        assertThat(this.dq.find()).contains(held("first", at(70)));
        assertThat(this.dq.acknowledge(lease)).isTrue();
    }

}
