package io.delayqueue.store.contract.settle;

import java.time.Duration;

import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.ClaimedMessageValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.Lease;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.called;
import static io.delayqueue.fixtures.store.StoreValues.firstAttempt;
import static io.delayqueue.fixtures.store.StoreValues.held;
import static io.delayqueue.fixtures.store.StoreValues.lease;
import static io.delayqueue.fixtures.store.StoreValues.deadLetterOf;
import static io.delayqueue.fixtures.store.StoreValues.neverGiven;
import static io.delayqueue.fixtures.store.StoreValues.redelivered;
import static io.delayqueue.fixtures.store.StoreValues.retried;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code release}, in each state. */
public abstract class ReleaseCases extends StoreCases {

    public ReleaseCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void isRefusedWhereTheQueueDoesNotHoldTheMessage() {
        assertThat(this.dq.release(neverGiven())).isFalse();
    }

    @Test
    void isRefusedForAMessageThatWaits() {
        this.dq.scheduled();

        assertThat(this.dq.release(neverGiven())).isFalse();

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void isRefusedForAMessageThatIsDue() {
        this.dq.due();

        assertThat(this.dq.release(neverGiven())).isFalse();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(firstAttempt("first", at(0))));
    }

    @Test
    void makesAMessageDueAfterTheDelayWithoutCountingAnAttempt() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.release(lease, DELAY)).isTrue();

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
        this.dq.advance(DELAY);
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(firstAttempt("first", at(10))));
    }

    @Test
    void isRefusedOnceTheMessageIsLeasedByAnother() {
        Lease stale = this.dq.leasedByAnother();

        assertThat(this.dq.release(stale)).isFalse();

        assertThat(this.dq.find()).contains(held("first", at(60)));
    }

    @Test
    void releasesALapsedMessage() {
        Lease lease = this.dq.lapsed();

        assertThat(this.dq.release(lease)).isTrue();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(firstAttempt("first", at(30))));
    }

    @Test
    void isRefusedOnceTheLapseWasNoticed() {
        Lease stale = this.dq.noticed();

        assertThat(this.dq.release(stale)).isFalse();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(redelivered(at(30), at(30), 0, 0)));
    }

    @Test
    void startsASuccessor() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.release(lease)).isTrue();

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void endsAMessageThatWasCancelled() {
        Lease lease = this.dq.cancelled();

        assertThat(this.dq.release(lease)).isTrue();

        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void isRefusedForADeadLetter() {
        Lease lease = this.dq.dead();

        assertThat(this.dq.release(lease)).isFalse();

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(lease, at(0)));
    }

    @Test
    void answersARepeatedCallAsTheFirst() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.replay(() -> this.dq.release(lease, DELAY))).isTrue();

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void keepsTheDueTimeOfAnAttemptThatWasNotStarted() {
        Lease lease = claimedLate();
        this.dq.advance(DELAY);

        assertThat(this.dq.releaseUnseen(lease, at(0))).isTrue();

        assertThat(this.dq.find()).contains(waiting("first", at(0)));
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(late(50)));
    }

    @Test
    void putsAMessageThatIsNotBegunBeforeWhatBecameDueLater() {
        this.dq.send(called("z", Duration.ZERO));
        this.dq.advance(DELAY);
        ClaimValues claim = this.dq.claim();
        this.dq.send(called("b", Duration.ZERO));
        this.dq.advance(DELAY);

        assertThat(this.dq.releaseUnseen(claim)).containsExactly(true);

        assertThat(this.dq.drained()).containsExactly("z", "b");
    }

    @Test
    void neverMakesAMessageDueLaterThanNow() {
        Lease lease = this.dq.leased();
        this.dq.advance(DELAY);

        assertThat(this.dq.releaseUnseen(lease, at(100))).isTrue();

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void keepsTheDueTimeOfARetryThatIsNotBegun() {
        this.dq.retry(this.dq.leased());
        this.dq.advance(LEASE);
        ClaimValues claim = this.dq.claim();
        this.dq.advance(DELAY);

        assertThat(this.dq.releaseUnseen(claim)).containsExactly(true);

        assertThat(this.dq.find()).contains(retried(at(10), at(0)));
    }

    @Test
    void keepsTheDueTimeOfAnAttemptThatIsNotBegunWhenRepeated() {
        Lease lease = claimedLate();

        assertThat(this.dq.replay(() -> this.dq.releaseUnseen(lease, at(0)))).isTrue();

        assertThat(this.dq.find()).contains(waiting("first", at(0)));
    }

    @Test
    void startsASuccessorBeforeTheStartOfAnAttempt() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.releaseUnseen(lease, at(0))).isTrue();

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void isRefusedForAnAttemptThatIsAnothersByNow() {
        Lease stale = this.dq.leasedByAnother();

        assertThat(this.dq.releaseUnseen(stale, at(0))).isFalse();

        assertThat(this.dq.find()).contains(held("first", at(60)));
    }

    /** A lease until second 40 of the message that was due at second 0. */
    private Lease claimedLate() {
        this.dq.due();
        this.dq.advance(DELAY);
        return this.dq.claimOne();
    }

    /** The message that was due at second 0, by a lease that lasts until then. */
    private static ClaimedMessageValues late(double until) {
        return new ClaimedMessageValues(lease(at(until)), at(0), 0, 0, false, null, null, "first");
    }

    @Test
    void leavesARedeliveredMessageThatWasNotStarted() {
        this.dq.lapsed();
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.release(lease)).isTrue();

        assertThat(this.dq.claim().messages()).extracting(ClaimedMessageValues::redelivered).containsExactly(true);
    }

    @Test
    void clearsARedeliveredMessageThatWasStarted() {
        this.dq.lapsed();
        Lease lease = this.dq.claimOne();
        this.dq.start(lease);

        assertThat(this.dq.release(lease)).isTrue();

        assertThat(this.dq.claim().messages()).extracting(ClaimedMessageValues::redelivered).containsExactly(false);
    }

    @Test
    void keepsTheFailures() {
        this.dq.retry(this.dq.leased());
        this.dq.advance(DELAY);

        assertThat(this.dq.release(this.dq.claimOne())).isTrue();

        assertThat(this.dq.find()).contains(retried(at(10), at(0)));
    }

    @Test
    void isRefusedAfterAnotherReleasedTheMessage() {
        Lease stale = this.dq.lapsed();
        this.dq.release(this.dq.claimOne(), Duration.ZERO);

        assertThat(this.dq.release(stale)).isFalse();

        assertThat(this.dq.find()).contains(waiting("first", at(30)));
    }

}
