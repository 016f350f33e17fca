package io.delayqueue.store.contract.claim;

import java.time.Duration;
import java.util.List;

import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.ClaimedMessageValues;
import io.delayqueue.fixtures.store.GroupValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.called;
import static io.delayqueue.fixtures.store.StoreValues.firstAttempt;
import static io.delayqueue.fixtures.store.StoreValues.held;
import static io.delayqueue.fixtures.store.StoreValues.keep;
import static io.delayqueue.fixtures.store.StoreValues.lease;
import static io.delayqueue.fixtures.store.StoreValues.deadLetterOf;
import static io.delayqueue.fixtures.store.StoreValues.redelivered;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code claim}, in each state. */
public abstract class ClaimCases extends StoreCases {

    public ClaimCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void findsNothingInAnEmptyQueue() {
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(null));
    }

    @Test
    void leavesAMessageThatIsNotDueAndReturnsItsDueTime() {
        this.dq.scheduled();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(10)));

        this.dq.advance(DELAY.minusMillis(1));
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(10)));
    }

    @Test
    void leasesAMessageThatIsDue() {
        this.dq.due();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(firstAttempt("first", at(0))));

        assertThat(this.dq.find()).contains(held("first", at(30)));
    }

    @Test
    void leavesALeasedMessageAndReturnsTheEndOfItsLease() {
        this.dq.leased();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(30)));

        this.dq.advance(LEASE.minusMillis(1));
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(30)));
    }

    @Test
    void leasesAMessageAgainWhenItsLeaseRanOut() {
        this.dq.lapsed();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(redelivered(at(30), 0, 0)));

        assertThat(this.dq.find()).contains(held("first", at(60)));
    }

    @Test
    void leasesAMessageWhoseLeaseRanOutBeforeWhatBecameDueSince() {
        this.dq.send(called("z", Duration.ZERO));
        this.dq.claim();
        this.dq.send(called("b", DELAY));
        this.dq.advance(LEASE);

        assertThat(this.dq.claim().messages()).extracting((taken) -> taken.lease().id() + " " + taken.dueAt())
            .containsExactly("z " + at(0), "b " + at(10));
    }

    /** Which is all that is known of how long a lease lasted. */
    @Test
    void takesTheUsualLeaseTimeForThatOfALeaseThatRanOut() {
        this.dq.leased();
        this.dq.advance(LEASE);

        assertThat(this.dq.claim(new ClaimRequest(1, LEASE, ExpiryPolicy.DROP, null, DELAY)).messages())
            .extracting(ClaimedMessageValues::dueAt)
            .containsExactly(at(20));
    }

    @Test
    void makesALapsedMessageDueWhenItsLeaseBeganForAnyLeaseDuration() {
        this.dq.advance(DELAY);
        this.dq.send(called("m", Duration.ZERO));
        this.dq.claim();
        this.dq.advance(LEASE);

        assertThat(this.dq.claim(new ClaimRequest(1, Duration.ofHours(1), ExpiryPolicy.DROP, null, LEASE)).messages())
            .extracting(ClaimedMessageValues::dueAt)
            .containsExactly(at(10));
    }

    /** Its own due time was over when it failed. */
    @Test
    void makesALapsedRetryDueWhenItsLeaseBegan() {
        this.dq.send(GroupValues.grouped("g", "m", Duration.ZERO));
        this.dq.retry(this.dq.claimOne());
        this.dq.advance(Duration.ofMinutes(1));
        this.dq.claim();
        this.dq.advance(LEASE);

        assertThat(this.dq.find("m").orElseThrow().dueAt()).isEqualTo(at(90));
        assertThat(this.dq.claim().messages()).extracting(ClaimedMessageValues::dueAt).containsExactly(at(60));
    }

    /** Where its token is later than its end, as an earlier lease was longer. */
    @Test
    void makesNoMessageDueAfterTheEndOfItsLease() {
        this.dq.due();
        this.dq.release(this.dq.claim(1, Duration.ofHours(1), ExpiryPolicy.DROP).messages().get(0).lease());
        this.dq.claim();
        this.dq.advance(LEASE);

        assertThat(this.dq.claim().messages()).extracting(ClaimedMessageValues::dueAt).containsExactly(at(30));
    }

    @Test
    void leasesAMessageWhoseLeaseWasEnded() {
        this.dq.noticed();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(redelivered(at(30), at(30), 0, 0)));
    }

    @Test
    void leavesASuccessorWhileTheLeaseLasts() {
        this.dq.withSuccessor();
        this.dq.advance(DELAY);

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(30)));
    }

    @Test
    void leasesTheSuccessorOfALeaseThatRanOut() {
        this.dq.withSuccessor();
        this.dq.advance(LEASE);

        assertThat(this.dq.claim().messages())
            .containsExactly(new ClaimedMessageValues(lease(at(60)), at(10), 0, 0, false, null, null, "second"));
    }

    @Test
    void leavesACancelledMessageWhileTheLeaseLasts() {
        this.dq.cancelled();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(30)));
    }

    @Test
    void endsACancelledMessageWhoseLeaseRanOut() {
        this.dq.cancelled();
        this.dq.advance(LEASE);

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(null));
    }

    @Test
    void leavesADeadLetterAlone() {
        Lease lease = this.dq.dead();

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(null));

        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(lease, at(0)));
    }

    @Test
    void costsOneLeaseTimeWhenRepeated() {
        this.dq.due();

        assertThat(this.dq.replay(() -> this.dq.claim())).isEqualTo(ClaimValues.nothing(at(30)));

        this.dq.advance(LEASE);
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(redelivered(at(30), 0, 0)));
    }

    @Test
    void givesEveryLeaseOfAMessageALaterToken() {
        Lease first = this.dq.leased();
        this.dq.release(first);

        Lease second = this.dq.claim(1, Duration.ofSeconds(1), ExpiryPolicy.DROP).messages().get(0).lease();

        assertThat(Long.parseLong(second.token())).isGreaterThan(Long.parseLong(first.token()));
        assertThat(this.dq.acknowledge(first)).isFalse();
        assertThat(this.dq.acknowledge(second)).isTrue();
    }

    @Test
    void holdsNoMessageLongerThanAskedForThoughItsTokenIsLater() {
        this.dq.send(called("b", Duration.ZERO));
        this.dq.send(keep("first", Duration.ZERO));
        Lease first = this.dq.claim(1, Duration.ofHours(1), ExpiryPolicy.DROP).messages().get(0).lease();
        this.dq.release(first);

        ClaimValues claim = this.dq.claim(2, LEASE, ExpiryPolicy.DROP);

        assertThat(claim.nextAt()).isEqualTo(at(30));
        assertThat(claim.leases()).allSatisfy(
                (lease) -> assertThat(Long.parseLong(lease.token())).isGreaterThan(Long.parseLong(first.token())));
        assertThat(this.dq.acknowledge(first)).isFalse();
        assertThat(this.dq.acknowledgeAll(claim.leases())).containsExactly(true, true);
    }

    @Test
    void showsWhatIsKnownOfEarlierAttempts() {
        this.dq.retry(this.dq.leased(), Duration.ofSeconds(1), "failure");
        this.dq.advance(Duration.ofSeconds(1));
        this.dq.start(this.dq.claimOne());
        this.dq.advance(LEASE);

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(redelivered(at(31), 1, 1)));
    }

    /** P2, with the backlog flag as well, which changes the cost of a claim only. */
    @Test
    void claimsABacklogOfOneDueTimeWhenItIsDue() {
        this.dq.sendAll(List.of(called("a", DELAY), called("b", DELAY), called("c", DELAY)));

        assertThat(backlog(2)).isEmpty();

        this.dq.advance(DELAY);
        assertThat(backlog(2)).containsExactly("a " + at(10), "b " + at(10));
        assertThat(backlog(2)).containsExactly("c " + at(10));
        assertThat(backlog(2)).isEmpty();
    }

    @Test
    void claimsABacklogOfSeveralDueTimesInTheirOrder() {
        this.dq.sendAll(List.of(called("b", DELAY), called("c", DELAY), called("d", DELAY.multipliedBy(2)),
                called("a", DELAY.multipliedBy(2)), called("e", DELAY.multipliedBy(3))));
        this.dq.advance(DELAY.multipliedBy(2));

        assertThat(backlog(3)).containsExactly("b " + at(10), "c " + at(10), "a " + at(20));
        assertThat(backlog(3)).containsExactly("d " + at(20));
    }

    private List<String> backlog(int limit) {
        return this.dq.claim(new ClaimRequest(limit, LEASE, ExpiryPolicy.DROP, null, LEASE, true))
            .messages()
            .stream()
            .map((message) -> message.lease().id() + " " + message.dueAt())
            .toList();
    }

}
