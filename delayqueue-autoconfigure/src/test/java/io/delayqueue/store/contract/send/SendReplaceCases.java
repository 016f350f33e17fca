package io.delayqueue.store.contract.send;

import java.time.Duration;

import io.delayqueue.OnDuplicate;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
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
import static io.delayqueue.fixtures.store.StoreValues.result;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code schedule} with REPLACE, in each state. */
public abstract class SendReplaceCases extends SendCases {

    public SendReplaceCases(StoreFixture contract) {
        super(contract, OnDuplicate.REPLACE);
    }

    @Test
    void replacesAMessageThatWaits() {
        this.dq.scheduled();

        assertThat(this.dq.send(message("second", LEASE))).isEqualTo(result(SendOutcome.REPLACED, at(30)));

        assertThat(this.dq.find()).contains(waiting("second", at(30)));
        this.dq.advance(DELAY);
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(30)));
    }

    @Test
    void replacesAMessageThatIsDue() {
        this.dq.due();

        assertThat(this.dq.send(message("second", DELAY))).isEqualTo(result(SendOutcome.REPLACED, at(10)));

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(10)));
    }

    @Test
    void followsAMessageThatIsLeased() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.send(message("second", DELAY))).isEqualTo(result(SendOutcome.AFTER_CURRENT, at(10)));

        assertThat(this.dq.find()).contains(held("first", at(30)));
        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void endsALeaseThatRanOutAndReplacesItsMessage() {
        Lease lease = this.dq.lapsed();

        assertThat(this.dq.send(message("second", Duration.ZERO))).isEqualTo(result(SendOutcome.REPLACED, at(30)));

        assertThat(this.dq.acknowledge(lease)).isFalse();
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(firstAttempt("second", at(30))));
    }

    @Test
    void replacesTheFirstSuccessor() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.send(message("third", LEASE))).isEqualTo(result(SendOutcome.AFTER_CURRENT, at(30)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("third", at(30)));
    }

    @Test
    void replacesTheSuccessorOfALeaseThatRanOut() {
        this.dq.withSuccessor();
        this.dq.advance(LEASE);

        assertThat(this.dq.send(message("third", DELAY))).isEqualTo(result(SendOutcome.REPLACED, at(40)));

        assertThat(this.dq.find()).contains(waiting("third", at(40)));
    }

    @Test
    void answersARepeatedReplacementAsTheFirst() {
        this.dq.scheduled();

        assertThat(this.dq.replayStamped(() -> this.dq.send(message("second", LEASE))))
            .isEqualTo(result(SendOutcome.REPLACED, at(30)));

        assertThat(this.dq.find()).contains(waiting("second", at(30)));
    }

    @Test
    void answersARepeatedSendOfASuccessorAsTheFirst() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.replayStamped(() -> this.dq.send(message("third", LEASE))))
            .isEqualTo(result(SendOutcome.AFTER_CURRENT, at(30)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("third", at(30)));
    }

    @Test
    void replacesHeadersPriorityAndTimeToLiveToo() {
        this.dq
            .send(new NewMessage(ID, false, DueTime.after(DELAY), OnDuplicate.KEEP, 7, DELAY, null, envelope("first")));

        this.dq.send(message("second", DELAY));

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void resetsTheFailures() {
        Lease lease = this.dq.leased();
        this.dq.retry(lease);

        this.dq.send(message("second", Duration.ZERO));

        assertThat(this.dq.find()).contains(waiting("second", at(0)));
        assertThat(this.dq.retry(lease)).isFalse();
    }

    @Test
    void neverGetsTheTokenOfTheReplacedMessage() {
        Lease stale = this.dq.leased();
        this.dq.release(stale);
        this.dq.send(message("second", Duration.ZERO));

        Lease lease = this.dq.claim(1, Duration.ofSeconds(1), ExpiryPolicy.DROP).messages().get(0).lease();

        assertThat(Long.parseLong(lease.token())).isGreaterThan(Long.parseLong(stale.token()));
    }

}
