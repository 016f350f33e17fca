package io.delayqueue.store.contract.send;

import java.time.Duration;

import io.delayqueue.RescheduleResult;
import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.Lease;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.held;
import static io.delayqueue.fixtures.store.StoreValues.deadLetterOf;
import static io.delayqueue.fixtures.store.StoreValues.retried;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code reschedule}, in each state. */
public abstract class RescheduleCases extends StoreCases {

    public RescheduleCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void findsNothingWhereTheQueueDoesNotHoldTheMessage() {
        assertThat(this.dq.reschedule(DELAY)).isEqualTo(RescheduleResult.NOT_FOUND);
    }

    @Test
    void movesAMessageThatWaits() {
        this.dq.scheduled();

        assertThat(this.dq.reschedule(Duration.ofSeconds(5))).isEqualTo(RescheduleResult.RESCHEDULED);

        assertThat(this.dq.find()).contains(waiting("first", at(5)));
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(5)));
    }

    @Test
    void movesAMessageThatIsDue() {
        this.dq.due();

        assertThat(this.dq.reschedule(DELAY)).isEqualTo(RescheduleResult.RESCHEDULED);

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(10)));
    }

    @Test
    void leavesAMessageThatIsLeasedAlone() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.reschedule(DELAY)).isEqualTo(RescheduleResult.LEASED);

        assertThat(this.dq.find()).contains(held("first", at(30)));
        assertThat(this.dq.acknowledge(lease)).isTrue();
    }

    @Test
    void movesAMessageWhoseLeaseRanOut() {
        Lease lease = this.dq.lapsed();

        assertThat(this.dq.reschedule(DELAY)).isEqualTo(RescheduleResult.RESCHEDULED);

        assertThat(this.dq.find()).contains(waiting("first", at(40)));
        assertThat(this.dq.acknowledge(lease)).isFalse();
    }

    @Test
    void leavesASuccessorAlone() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.reschedule(LEASE)).isEqualTo(RescheduleResult.LEASED);

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void movesTheSuccessorOfALeaseThatRanOut() {
        this.dq.withSuccessor();
        this.dq.advance(LEASE);

        assertThat(this.dq.reschedule(DELAY)).isEqualTo(RescheduleResult.RESCHEDULED);

        assertThat(this.dq.find()).contains(waiting("second", at(40)));
    }

    @Test
    void leavesAMessageThatIsLeasedAndCancelledAlone() {
        Lease lease = this.dq.cancelled();

        assertThat(this.dq.reschedule(DELAY)).isEqualTo(RescheduleResult.LEASED);

        assertThat(this.dq.retry(lease)).isTrue();
        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void findsNothingOnceACancelledLeaseRanOut() {
        this.dq.cancelled();
        this.dq.advance(LEASE);

        assertThat(this.dq.reschedule(DELAY)).isEqualTo(RescheduleResult.NOT_FOUND);
    }

    @Test
    void leavesADeadLetterAlone() {
        Lease lease = this.dq.dead();

        assertThat(this.dq.reschedule(DELAY)).isEqualTo(RescheduleResult.NOT_FOUND);

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(lease, at(0)));
    }

    @Test
    void isANewCallWhenRepeated() {
        this.dq.scheduled();

        assertThat(this.dq.replay(() -> this.dq.reschedule(LEASE))).isEqualTo(RescheduleResult.RESCHEDULED);

        assertThat(this.dq.find()).contains(waiting("first", at(30)));
    }

    @Test
    void keepsWhatIsKnownOfTheAttempts() {
        Lease lease = this.dq.leased();
        this.dq.retry(lease);

        assertThat(this.dq.reschedule(Duration.ZERO)).isEqualTo(RescheduleResult.RESCHEDULED);

        assertThat(this.dq.find()).contains(retried(at(0), at(0)));
    }

}
