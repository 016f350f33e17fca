package io.delayqueue.store;

import io.delayqueue.CancelResult;
import io.delayqueue.OnDuplicate;
import org.junit.jupiter.api.Test;

import static io.delayqueue.store.StoreValues.DELAY;
import static io.delayqueue.store.StoreValues.ID;
import static io.delayqueue.store.StoreValues.LEASE;
import static io.delayqueue.store.StoreValues.at;
import static io.delayqueue.store.StoreValues.envelope;
import static io.delayqueue.store.StoreValues.firstAttempt;
import static io.delayqueue.store.StoreValues.held;
import static io.delayqueue.store.StoreValues.letter;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code cancel}, in each state. */
abstract class CancelCases extends StoreCases {

    CancelCases(MessageStoreContract contract) {
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
        assertThat(this.dq.claim()).isEqualTo(Claimed.nothing(null));
    }

    @Test
    void removesAMessageThatIsDue() {
        this.dq.due();

        assertThat(this.dq.cancel()).isEqualTo(CancelResult.CANCELLED);

        assertThat(this.dq.claim()).isEqualTo(Claimed.nothing(null));
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

        assertThat(this.dq.letters()).containsExactly(letter(lease, at(0)));
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

        assertThat(this.dq.claim()).isEqualTo(Claimed.of(firstAttempt("first", at(0))));
    }

}
