package io.delayqueue.store.contract.settle;

import java.time.Duration;

import io.delayqueue.DeadLetter;
import io.delayqueue.FailureReasons;
import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.ClaimedMessageValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.Lease;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.firstAttempt;
import static io.delayqueue.fixtures.store.StoreValues.held;
import static io.delayqueue.fixtures.store.StoreValues.lease;
import static io.delayqueue.fixtures.store.StoreValues.deadLetterOf;
import static io.delayqueue.fixtures.store.StoreValues.neverGiven;
import static io.delayqueue.fixtures.store.StoreValues.retried;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code retry}, in each state. */
public abstract class RetryCases extends StoreCases {

    public RetryCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void isRefusedWhereTheQueueDoesNotHoldTheMessage() {
        assertThat(this.dq.retry(neverGiven())).isFalse();
    }

    @Test
    void isRefusedForAMessageThatWaits() {
        this.dq.scheduled();

        assertThat(this.dq.retry(neverGiven())).isFalse();

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void isRefusedForAMessageThatIsDue() {
        this.dq.due();

        assertThat(this.dq.retry(neverGiven())).isFalse();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(firstAttempt("first", at(0))));
    }

    @Test
    void makesAMessageDueAfterTheDelayWithOneMoreFailure() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.retry(lease)).isTrue();

        assertThat(this.dq.find()).contains(retried(at(10), at(0)));
        this.dq.advance(DELAY);
        assertThat(this.dq.claim()).isEqualTo(
                ClaimValues.of(new ClaimedMessageValues(lease(at(40)), at(10), 1, 0, false, null, null, "first")));
    }

    @Test
    void keepsTheFirstFailureAndTheLastOneWithItsTime() {
        this.dq.retry(this.dq.leased(), DELAY, "first of all");
        this.dq.advance(DELAY);
        this.dq.retry(this.dq.claimOne(), DELAY, "second");
        this.dq.advance(DELAY);
        this.dq.retry(this.dq.claimOne(), DELAY, "third: 1\n20 of 3");

        assertThat(reasons()).isEqualTo(new FailureReasons("first of all", "third: 1 20 of 3", at(20)));

        this.dq.advance(DELAY);
        this.dq.retry(this.dq.claimOne(), DELAY, "first of all");
        assertThat(reasons()).isEqualTo(new FailureReasons("first of all", "first of all", at(30)));
    }

    @Test
    void keepsTheFailuresOverALapseAndInTheDeadLetter() {
        this.dq.retry(this.dq.leased(), Duration.ZERO, "first");
        this.dq.retry(this.dq.claimOne(), Duration.ZERO, "second");
        this.dq.claimOne();
        this.dq.advance(LEASE);
        Lease lease = this.dq.claimOne();

        assertThat(reasons()).isEqualTo(new FailureReasons("first", "second", at(0)));

        this.dq.deadLetter(lease);
        assertThat(this.dq.deadLetters()).extracting(DeadLetter::firstFailure).containsExactly("first");
    }

    private @Nullable FailureReasons reasons() {
        return this.dq.find().orElseThrow().failureReasons();
    }

    @Test
    void isRefusedOnceTheMessageIsLeasedByAnother() {
        Lease stale = this.dq.leasedByAnother();

        assertThat(this.dq.retry(stale)).isFalse();

        assertThat(this.dq.find()).contains(held("first", at(60)));
    }

    @Test
    void retriesALapsedMessage() {
        Lease lease = this.dq.lapsed();

        assertThat(this.dq.retry(lease)).isTrue();

        assertThat(this.dq.find()).contains(retried(at(40), at(30)));
    }

    @Test
    void isRefusedOnceTheLapseWasNoticed() {
        Lease stale = this.dq.noticed();

        assertThat(this.dq.retry(stale)).isFalse();

        assertThat(this.dq.find()).contains(waiting("first", at(30)));
    }

    @Test
    void startsASuccessor() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.retry(lease)).isTrue();

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void endsAMessageThatWasCancelled() {
        Lease lease = this.dq.cancelled();

        assertThat(this.dq.retry(lease)).isTrue();

        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void isRefusedForADeadLetter() {
        Lease lease = this.dq.dead();

        assertThat(this.dq.retry(lease)).isFalse();

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(lease, at(0)));
    }

    @Test
    void countsOnceWhenRepeated() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.replay(() -> this.dq.retry(lease))).isTrue();

        assertThat(this.dq.find()).contains(retried(at(10), at(0)));
    }

    @Test
    void isRefusedWhenRepeatedAfterTheMessageWasClaimedAgain() {
        Lease stale = this.dq.leased();
        this.dq.retry(stale);
        this.dq.advance(DELAY);
        this.dq.claim();

        assertThat(this.dq.retry(stale)).isFalse();

        assertThat(this.dq.find().orElseThrow().failures()).isEqualTo(1);
    }

    @Test
    void countsOnceForALeaseThatWasExtended() {
        Lease lease = this.dq.leased();
        this.dq.extend(lease, Duration.ofMinutes(1));

        assertThat(this.dq.replay(() -> this.dq.retry(lease))).isTrue();

        assertThat(this.dq.find()).contains(retried(at(10), at(0)));
    }

    @Test
    void clearsARedeliveredMessage() {
        this.dq.lapsed();
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.retry(lease)).isTrue();

        this.dq.advance(DELAY);
        assertThat(this.dq.claim().messages()).extracting(ClaimedMessageValues::redelivered).containsExactly(false);
    }

    @Test
    void endsTheExtensionWithTheLease() {
        Lease lease = this.dq.leased();
        this.dq.extend(lease, Duration.ofMinutes(1));
        this.dq.retry(lease);
        this.dq.advance(DELAY);
        Lease next = this.dq.claimOne();

        assertThat(this.dq.acknowledge(lease)).isFalse();

        assertThat(this.dq.acknowledge(next)).isTrue();
    }

    @Test
    void isRefusedAfterAnotherReleasedTheMessage() {
        Lease stale = this.dq.lapsed();
        this.dq.release(this.dq.claimOne());

        assertThat(this.dq.retry(stale)).isFalse();

        assertThat(this.dq.find()).contains(waiting("first", at(30)));
    }

}
