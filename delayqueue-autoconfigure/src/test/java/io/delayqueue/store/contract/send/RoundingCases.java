package io.delayqueue.store.contract.send;

import java.time.Duration;
import java.time.Instant;

import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.ClaimedMessageValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.ID;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.envelope;
import static io.delayqueue.fixtures.store.StoreValues.held;
import static io.delayqueue.fixtures.store.StoreValues.keep;
import static io.delayqueue.fixtures.store.StoreValues.lease;
import static io.delayqueue.fixtures.store.StoreValues.result;
import static io.delayqueue.fixtures.store.StoreValues.retried;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** Times between two milliseconds. */
public abstract class RoundingCases extends StoreCases {

    public RoundingCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void roundsNowUpForADelay() {
        this.dq.advance(Duration.ofNanos(1_000));

        assertThat(this.dq.send(keep("first", Duration.ofMillis(10))))
            .isEqualTo(result(SendOutcome.SCHEDULED, at(0.011)));
    }

    @Test
    void roundsADelayUp() {
        assertThat(this.dq.send(keep("first", Duration.ofNanos(9_000_001))))
            .isEqualTo(result(SendOutcome.SCHEDULED, at(0.010)));
    }

    @Test
    void roundsADueTimeUp() {
        NewMessage message = NewMessage.of(ID, DueTime.at(at(10).plusNanos(1)), envelope("first"));

        assertThat(this.dq.send(message)).isEqualTo(result(SendOutcome.SCHEDULED, at(10.001)));
    }

    @Test
    void takesADueTimeInThePastForNow() {
        this.dq.advance(Duration.ofNanos(1_000));
        NewMessage message = NewMessage.of(ID, DueTime.at(Instant.EPOCH), envelope("first"));

        assertThat(this.dq.send(message)).isEqualTo(result(SendOutcome.SCHEDULED, at(0.001)));
    }

    @Test
    void roundsNowDownForAClaim() {
        this.dq.send(keep("first", Duration.ofMillis(10)));
        this.dq.advance(Duration.ofNanos(9_999_000));

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(0.010)));

        this.dq.advance(Duration.ofNanos(1_000));
        assertThat(this.dq.claim().ids()).containsExactly(ID);
    }

    @Test
    void roundsARetryUp() {
        Lease lease = this.dq.leased();
        this.dq.advance(Duration.ofNanos(1_000));

        this.dq.retry(lease, Duration.ofNanos(9_000_001), "failure");

        assertThat(this.dq.find()).contains(retried(at(0.011), at(0)));
    }

    @Test
    void roundsAReleaseUp() {
        Lease lease = this.dq.leased();
        this.dq.advance(Duration.ofNanos(1_000));

        this.dq.release(lease, Duration.ofMillis(10));

        assertThat(this.dq.find()).contains(waiting("first", at(0.011)));
    }

    @Test
    void roundsARescheduleUp() {
        this.dq.scheduled();
        this.dq.advance(Duration.ofNanos(1_000));

        this.dq.reschedule(Duration.ofMillis(10));

        assertThat(this.dq.find()).contains(waiting("first", at(0.011)));
    }

    @Test
    void roundsARedriveUp() {
        Lease dead = this.dq.dead();
        this.dq.advance(Duration.ofNanos(1_000));

        this.dq.redrive(dead);

        assertThat(this.dq.find()).contains(waiting("first", at(0.001)));
    }

    @Test
    void endsALeaseToTheMicrosecond() {
        this.dq.advance(Duration.ofNanos(1_000));
        this.dq.send(keep("first", Duration.ZERO));
        this.dq.advance(Duration.ofNanos(1_500_000));
        this.dq.claim();
        this.dq.advance(LEASE.minusNanos(1_000));

        assertThat(this.dq.find()).contains(held("first", at(30.001501)));
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(30.002)));

        this.dq.advance(Duration.ofNanos(1_000));
        assertThat(this.dq.claim().messages()).containsExactly(
                new ClaimedMessageValues(lease(at(60.001501)), at(0.001), 0, 0, true, null, null, "first"));
    }

}
