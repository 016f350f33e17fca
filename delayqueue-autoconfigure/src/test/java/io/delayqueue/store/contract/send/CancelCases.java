package io.delayqueue.store.contract.send;

import io.delayqueue.CancelResult;
import io.delayqueue.OnDuplicate;
import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.ID;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.envelope;
import static io.delayqueue.fixtures.store.StoreValues.firstAttempt;
import static io.delayqueue.fixtures.store.StoreValues.held;
import static io.delayqueue.fixtures.store.StoreValues.deadLetterOf;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code cancel}, in each state. */
public abstract class CancelCases extends StoreCases {

    public CancelCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void findsNothingWhereTheQueueDoesNotHoldTheMessage() {
        assertThat(this.dq.cancel()).isEqualTo(CancelResult.NOT_FOUND);
    }

    @Test
    void removesAMessageThatWaits() {
        this.dq.scheduled();

        assertThat(this.dq.cancel()).isEqualTo(CancelResult.CANCELLED);

        assertThat(this.dq.find()).isEmpty();
        this.dq.advance(DELAY);
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(null));
    }

    @Test
    void removesAMessageThatIsDue() {
        this.dq.due();

        assertThat(this.dq.cancel()).isEqualTo(CancelResult.CANCELLED);

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(null));
    }

    @Test
    void forbidsTheRetryOfAMessageThatIsLeased() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.cancel()).isEqualTo(CancelResult.LEASED);

        assertThat(this.dq.find()).contains(held("first", at(30)));
        assertThat(this.dq.retry(lease)).isTrue();
        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void removesAMessageWhoseLeaseRanOut() {
        Lease lease = this.dq.lapsed();

        assertThat(this.dq.cancel()).isEqualTo(CancelResult.CANCELLED);

        assertThat(this.dq.find()).isEmpty();
        assertThat(this.dq.acknowledge(lease)).isFalse();
    }

    @Test
    void removesASuccessor() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.cancel()).isEqualTo(CancelResult.LEASED);

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void removesTheSuccessorOfALeaseThatRanOut() {
        this.dq.withSuccessor();
        this.dq.advance(LEASE);

        assertThat(this.dq.cancel()).isEqualTo(CancelResult.CANCELLED);

        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void answersLeasedAgainWhileTheLeaseLasts() {
        Lease lease = this.dq.cancelled();

        assertThat(this.dq.cancel()).isEqualTo(CancelResult.LEASED);

        assertThat(this.dq.release(lease)).isTrue();
        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void findsNothingOnceACancelledLeaseRanOut() {
        this.dq.cancelled();
        this.dq.advance(LEASE);

        assertThat(this.dq.cancel()).isEqualTo(CancelResult.NOT_FOUND);
    }

    @Test
    void leavesADeadLetterAlone() {
        Lease lease = this.dq.dead();

        assertThat(this.dq.cancel()).isEqualTo(CancelResult.NOT_FOUND);

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(lease, at(0)));
    }

    @Test
    void isANewCallWhenRepeated() {
        this.dq.scheduled();

        assertThat(this.dq.replay(() -> this.dq.cancel())).isEqualTo(CancelResult.NOT_FOUND);
    }

    @Test
    void answersARepeatedCallAsTheFirstWhileTheMessageIsLeased() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.replay(() -> this.dq.cancel())).isEqualTo(CancelResult.LEASED);

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void leavesNothingThatALaterMessageOfTheIdInherits() {
        Lease lease = this.dq.leased();
        this.dq.retry(lease);
        this.dq.send(new NewMessage(ID, false, DueTime.NOW, OnDuplicate.REPLACE, 7, DELAY, null, envelope("second")));
        assertThat(this.dq.cancel()).isEqualTo(CancelResult.CANCELLED);

        this.dq.due();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(firstAttempt("first", at(0))));
    }

}
