package io.delayqueue.listener.poll;

import java.time.Duration;

import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.store.Lease;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests P6: a forward jump of the store's clock, which a suspended machine observes as
 * well, ends the leases of in-flight messages, and no handler starts with a lapsed lease.
 */
class ClockJumpTests {

    private final TestBed bed = new TestBed();

    private final PollLoop loop;

    ClockJumpTests() {
        this.bed.concurrency = 3;
        this.loop = this.bed.loop();
    }

    /** Claims two messages whose handlers have no thread yet. */
    private void claimTwo() {
        this.bed.store.add("a", Duration.ZERO);
        this.bed.store.add("b", Duration.ZERO);
        TestBed.poll(this.loop);
        assertThat(this.bed.handled).isEmpty();
    }

    @Test
    void anUnstartedMessageIsNotStartedAfterAJumpThatIsLongerThanItsLease() {
        claimTwo();

        this.bed.store.step(TestBed.LEASE);
        TestBed.poll(this.loop);
        this.bed.handleOnce(this.loop);
        this.bed.handleOnce(this.loop);

        assertThat(this.bed.handled).as("each by its new lease").containsExactlyInAnyOrder("a", "b");
        assertThat(this.bed.store.calls).contains("release [a] as before", "release [b] as before");
    }

    @Test
    void theRestOfALeaseIsShorterByAJump() {
        claimTwo();

        this.bed.store.step(TestBed.LEASE.minusSeconds(10));
        TestBed.poll(this.loop);
        this.bed.clock.advance(Duration.ofSeconds(11));
        this.bed.runHandlers();

        assertThat(this.bed.handled).isEmpty();
    }

    @Test
    void aShorterJumpStopsNoHandler() {
        claimTwo();

        this.bed.store.step(TestBed.LEASE.minusSeconds(10));
        TestBed.poll(this.loop);
        this.bed.clock.advance(Duration.ofSeconds(9));
        this.bed.runHandlers();

        assertThat(this.bed.handled).containsExactlyInAnyOrder("a", "b");
    }

    /** The times of the two answers bound the size of the jump. */
    @Test
    void slowAnswersHideNoPartOfAJump() {
        this.bed.store.during("claim", () -> this.bed.clock.advance(Duration.ofSeconds(2)));
        claimTwo();

        this.bed.store.step(TestBed.LEASE.minusSeconds(3));
        TestBed.poll(this.loop);
        this.bed.runHandlers();

        assertThat(this.bed.handled).isEmpty();
    }

    @Test
    void aRenewalThatWasSentBeforeTheJumpWasDetectedDoesNotCount() {
        long now = this.bed.clock.getAsLong();
        InFlightMessage lease = lease();

        lease.shorten(TestBed.LEASE, now + 2);
        lease.renewed(now + 1, TestBed.LEASE);
        assertThat(lease.isLive(now + 3)).isFalse();

        lease.renewed(now + 2, TestBed.LEASE);
        assertThat(lease.isLive(now + 3)).isTrue();
    }

    @Test
    void aJumpBackEndsNoLease() {
        claimTwo();

        this.bed.store.step(Duration.ofHours(-1));
        TestBed.poll(this.loop);
        this.bed.runHandlers();

        assertThat(this.bed.handled).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void aRenewalAfterTheJumpCounts() {
        LeaseRenewer renewer = new LeaseRenewer(this.bed.queue(), this.bed.context);
        InFlightMessage lease = lease();
        renewer.add(lease);

        renewer.jumped(Duration.ofMinutes(1));
        assertThat(lease.isLive(this.bed.clock.getAsLong())).isFalse();
        this.bed.clock.advance(TestBed.LEASE.dividedBy(2));
        this.bed.store.messages.get("a").leasedUntil = ManualNanoClock.START.plus(TestBed.LEASE.multipliedBy(2));
        renewer.renew();

        assertThat(lease.isLive(this.bed.clock.getAsLong())).isTrue();
    }

    private InFlightMessage lease() {
        this.bed.store.add("a", Duration.ZERO);
        TestBed.poll(this.loop);
        return new InFlightMessage(
                this.bed.store.messages.get("a")
                    .lease(new Lease(TestBed.QUEUE, "a", "7"), ManualNanoClock.START.plus(TestBed.LEASE)),
                new InFlightMessage.Times(this.bed.clock.getAsLong(), this.bed.clock.getAsLong(),
                        ManualNanoClock.START),
                TestBed.LEASE);
    }

}
