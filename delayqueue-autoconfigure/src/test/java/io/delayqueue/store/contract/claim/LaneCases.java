package io.delayqueue.store.contract.claim;

import java.time.Duration;
import java.util.List;

import io.delayqueue.CancelResult;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.ClaimedMessageValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.ID;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.called;
import static io.delayqueue.fixtures.store.StoreValues.inLane;
import static io.delayqueue.fixtures.store.StoreValues.replace;
import static io.delayqueue.fixtures.store.StoreValues.result;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** Priorities. */
public abstract class LaneCases extends StoreCases {

    public LaneCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void goFromTheHighestDown() {
        this.dq.sendAll(List.of(inLane(0, "v", Duration.ZERO), inLane(3, "w", Duration.ZERO),
                inLane(4, "x", Duration.ZERO), inLane(5, "y", Duration.ZERO), inLane(9, "z", Duration.ZERO)));

        assertThat(this.dq.claim().ids()).containsExactly("z", "y", "x", "w", "v");
    }

    @Test
    void letAHigherOnePassHoweverLongALowerOneIsDue() {
        this.dq.send(inLane(4, "low", Duration.ZERO));
        this.dq.advance(DELAY);
        this.dq.send(inLane(5, "high", Duration.ZERO));

        assertThat(this.dq.claim(1, LEASE, ExpiryPolicy.DROP).ids()).containsExactly("high");
        assertThat(this.dq.claim(1, LEASE, ExpiryPolicy.DROP).ids()).containsExactly("low");
    }

    @Test
    void goByDueTimeInside() {
        this.dq.sendAll(List.of(inLane(7, "x", Duration.ofSeconds(3)), inLane(7, "y", Duration.ofSeconds(1)),
                inLane(7, "z", Duration.ofSeconds(2))));
        this.dq.advance(DELAY);

        assertThat(this.dq.claim().ids()).containsExactly("y", "z", "x");
    }

    @Test
    void goByIdWhereTheDueTimeIsTheSame() {
        this.dq.sendAll(List.of(called("b", DELAY), called("a", DELAY), called("B", DELAY), called("a-", DELAY)));
        this.dq.advance(DELAY);

        assertThat(this.dq.claim().ids()).containsExactly("B", "a", "a-", "b");
    }

    @Test
    void leaveWhatIsNotDueInAHigherOne() {
        this.dq.sendAll(List.of(inLane(9, "later", DELAY), inLane(0, "now", Duration.ZERO)));

        ClaimValues claim = this.dq.claim();

        assertThat(claim.ids()).containsExactly("now");
        assertThat(claim.nextAt()).isEqualTo(at(10));
    }

    @Test
    void areAllReadByAFullClaimThatLeavesNothingDue() {
        this.dq.sendAll(List.of(inLane(9, "now", Duration.ZERO), inLane(9, "later", DELAY),
                inLane(0, "soon", Duration.ofSeconds(5))));

        ClaimValues claim = this.dq.claim(1, LEASE, ExpiryPolicy.DROP);

        assertThat(claim.ids()).containsExactly("now");
        assertThat(claim.nextAt()).isEqualTo(at(5));
    }

    @Test
    void areKeptByARetryALapseAndARedrive() {
        this.dq.send(inLane(7, "x", Duration.ZERO));
        assertThat(this.dq.retry(this.dq.claimOne(), Duration.ZERO, "failure")).isTrue();
        assertThat(this.dq.find("x").orElseThrow().priority()).isEqualTo(7);

        Lease lease = this.dq.claimOne();
        this.dq.advance(Duration.ofMinutes(1));
        Lease again = this.dq.claimOne();
        assertThat(this.dq.acknowledge(lease)).isFalse();
        assertThat(this.dq.find("x").orElseThrow().priority()).isEqualTo(7);

        this.dq.deadLetter(again);
        assertThat(this.dq.redrive(again)).isEqualTo(RedriveResult.REDRIVEN);
        assertThat(this.dq.find("x").orElseThrow().priority()).isEqualTo(7);
    }

    @Test
    void keepTheirDueTimeWhenALeaseRunsOut() {
        this.dq.send(inLane(7, "x", Duration.ZERO));
        this.dq.claim();
        this.dq.advance(LEASE);

        assertThat(this.dq.claim().messages()).extracting(ClaimedMessageValues::dueAt).containsExactly(at(0));
    }

    @Test
    void canBeLeftByAReplacement() {
        this.dq.send(inLane(7, ID, DELAY));

        assertThat(this.dq.send(replace("second", Duration.ZERO))).isEqualTo(result(SendOutcome.REPLACED, at(0)));

        assertThat(this.dq.find()).contains(waiting("second", at(0)));
        this.dq.advance(DELAY);
        assertThat(this.dq.claim().ids()).containsExactly(ID);
    }

    @Test
    void canBeRescheduledAndCancelled() {
        this.dq.send(inLane(0, ID, DELAY));

        assertThat(this.dq.reschedule(Duration.ofSeconds(5))).isEqualTo(RescheduleResult.RESCHEDULED);
        assertThat(this.dq.find().orElseThrow().dueAt()).isEqualTo(at(5));
        assertThat(this.dq.cancel()).isEqualTo(CancelResult.CANCELLED);
    }

}
