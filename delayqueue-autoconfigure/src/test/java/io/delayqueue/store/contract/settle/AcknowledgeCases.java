package io.delayqueue.store.contract.settle;

import java.time.Duration;
import java.util.List;

import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.Lease;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.firstAttempt;
import static io.delayqueue.fixtures.store.StoreValues.follow;
import static io.delayqueue.fixtures.store.StoreValues.held;
import static io.delayqueue.fixtures.store.StoreValues.deadLetterOf;
import static io.delayqueue.fixtures.store.StoreValues.neverGiven;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code acknowledge}, in each state. */
public abstract class AcknowledgeCases extends StoreCases {

    public AcknowledgeCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void isRefusedWhereTheQueueDoesNotHoldTheMessage() {
        assertThat(this.dq.acknowledge(neverGiven())).isFalse();
    }

    @Test
    void isRefusedForAMessageThatWaits() {
        this.dq.scheduled();

        assertThat(this.dq.acknowledge(neverGiven())).isFalse();

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void isRefusedForAMessageThatIsDue() {
        this.dq.due();

        assertThat(this.dq.acknowledge(neverGiven())).isFalse();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(firstAttempt("first", at(0))));
    }

    @Test
    void endsAMessage() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.acknowledge(lease)).isTrue();

        assertThat(this.dq.find()).isEmpty();
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(null));
    }

    @Test
    void isRefusedOnceTheMessageIsLeasedByAnother() {
        Lease stale = this.dq.leasedByAnother();

        assertThat(this.dq.acknowledge(stale)).isFalse();

        assertThat(this.dq.find()).contains(held("first", at(60)));
    }

    @Test
    void acknowledgesALapsedMessage() {
        Lease lease = this.dq.lapsed();

        assertThat(this.dq.acknowledge(lease)).isTrue();

        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void isRefusedOnceTheLapseWasNoticed() {
        Lease stale = this.dq.noticed();

        assertThat(this.dq.acknowledge(stale)).isFalse();

        assertThat(this.dq.find()).contains(waiting("first", at(30)));
    }

    @Test
    void beginsTheLifeOfASuccessor() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.acknowledge(lease)).isTrue();

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
        assertThat(this.dq.acknowledge(lease)).isFalse();
    }

    @Test
    void endsAMessageThatWasCancelled() {
        Lease lease = this.dq.cancelled();

        assertThat(this.dq.acknowledge(lease)).isTrue();

        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void isRefusedForADeadLetter() {
        Lease lease = this.dq.dead();

        assertThat(this.dq.acknowledge(lease)).isFalse();

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(lease, at(0)));
    }

    @Test
    void isRefusedWhenRepeatedAsTheMessageIsGone() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.replay(() -> this.dq.acknowledge(lease))).isFalse();

        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void isRefusedAfterTheHolderReleasedTheMessage() {
        Lease lease = this.dq.leased();
        this.dq.release(lease);

        assertThat(this.dq.acknowledge(lease)).isFalse();

        assertThat(this.dq.find()).contains(waiting("first", at(0)));
    }

    @Test
    void endsAMessageWhoseLeaseWasExtended() {
        Lease lease = this.dq.leased();
        this.dq.extend(lease, Duration.ofMinutes(1));

        assertThat(this.dq.acknowledge(lease)).isTrue();

        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void startsTheAttemptsOfASuccessorAtZero() {
        this.dq.retry(this.dq.leased(), Duration.ZERO, "failure");
        Lease lease = this.dq.claimOne();
        this.dq.send(follow("second", Duration.ZERO));

        assertThat(this.dq.acknowledge(lease)).isTrue();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(firstAttempt("second", at(0))));
    }

    @Test
    void isRefusedTheSecondTimeInOneCallAndKeepsTheSuccessor() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.acknowledgeAll(List.of(lease, lease))).containsExactly(true, false);

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

}
