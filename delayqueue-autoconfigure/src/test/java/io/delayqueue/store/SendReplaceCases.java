package io.delayqueue.store;

import java.time.Duration;

import io.delayqueue.OnDuplicate;
import io.delayqueue.SendOutcome;
import org.junit.jupiter.api.Test;

import static io.delayqueue.store.StoreValues.DELAY;
import static io.delayqueue.store.StoreValues.ID;
import static io.delayqueue.store.StoreValues.LEASE;
import static io.delayqueue.store.StoreValues.at;
import static io.delayqueue.store.StoreValues.envelope;
import static io.delayqueue.store.StoreValues.firstAttempt;
import static io.delayqueue.store.StoreValues.held;
import static io.delayqueue.store.StoreValues.letter;
import static io.delayqueue.store.StoreValues.replace;
import static io.delayqueue.store.StoreValues.result;
import static io.delayqueue.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code schedule} with REPLACE, in each state. */
abstract class SendReplaceCases extends StoreCases {

    SendReplaceCases(MessageStoreContract contract) {
        super(contract);
    }

    @Test
    void storesAMessageThatTheQueueDoesNotHold() {
        assertThat(this.dq.send(replace("first", DELAY))).isEqualTo(result(SendOutcome.SCHEDULED, at(10)));

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void replacesAMessageThatWaits() {
        this.dq.scheduled();

        assertThat(this.dq.send(replace("second", LEASE))).isEqualTo(result(SendOutcome.REPLACED, at(30)));

        assertThat(this.dq.find()).contains(waiting("second", at(30)));
        this.dq.advance(DELAY);
        assertThat(this.dq.claim()).isEqualTo(Claimed.nothing(at(30)));
    }

    @Test
    void replacesAMessageThatIsDue() {
        this.dq.due();

        assertThat(this.dq.send(replace("second", DELAY))).isEqualTo(result(SendOutcome.REPLACED, at(10)));

        assertThat(this.dq.claim()).isEqualTo(Claimed.nothing(at(10)));
    }

    @Test
    void followsAMessageThatIsLeased() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.send(replace("second", DELAY))).isEqualTo(result(SendOutcome.AFTER_CURRENT, at(10)));

        assertThat(this.dq.find()).contains(held("first", at(30)));
        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void endsALeaseThatRanOutAndReplacesItsMessage() {
        Lease lease = this.dq.lapsed();

        assertThat(this.dq.send(replace("second", Duration.ZERO))).isEqualTo(result(SendOutcome.REPLACED, at(30)));

        assertThat(this.dq.acknowledge(lease)).isFalse();
        assertThat(this.dq.claim()).isEqualTo(Claimed.of(firstAttempt("second", at(30))));
    }

    @Test
    void replacesTheFirstSuccessor() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.send(replace("third", LEASE))).isEqualTo(result(SendOutcome.AFTER_CURRENT, at(30)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("third", at(30)));
    }

    @Test
    void replacesTheSuccessorOfALeaseThatRanOut() {
        this.dq.withSuccessor();
        this.dq.advance(LEASE);

        assertThat(this.dq.send(replace("third", DELAY))).isEqualTo(result(SendOutcome.REPLACED, at(40)));

        assertThat(this.dq.find()).contains(waiting("third", at(40)));
    }

    @Test
    void followsAMessageThatIsLeasedAndCancelled() {
        Lease lease = this.dq.cancelled();

        assertThat(this.dq.send(replace("second", DELAY))).isEqualTo(result(SendOutcome.AFTER_CURRENT, at(10)));

        assertThat(this.dq.retry(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void storesAMessageWhoseCancelledLeaseRanOut() {
        this.dq.cancelled();
        this.dq.advance(LEASE);

        assertThat(this.dq.send(replace("second", DELAY))).isEqualTo(result(SendOutcome.SCHEDULED, at(40)));

        assertThat(this.dq.find()).contains(waiting("second", at(40)));
    }

    @Test
    void storesAMessageWhoseIdHasADeadLetter() {
        Lease lease = this.dq.dead();

        assertThat(this.dq.send(replace("second", DELAY))).isEqualTo(result(SendOutcome.SCHEDULED, at(10)));

        assertThat(this.dq.letters()).containsExactly(letter(lease, at(0)));
    }

    @Test
    void answersARepeatedSendAsTheFirst() {
        assertThat(this.dq.replayStamped(() -> this.dq.send(replace("first", DELAY))))
            .isEqualTo(result(SendOutcome.SCHEDULED, at(10)));

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void answersARepeatedReplacementAsTheFirst() {
        this.dq.scheduled();

        assertThat(this.dq.replayStamped(() -> this.dq.send(replace("second", LEASE))))
            .isEqualTo(result(SendOutcome.REPLACED, at(30)));

        assertThat(this.dq.find()).contains(waiting("second", at(30)));
    }

    @Test
    void answersARepeatedSendOfASuccessorAsTheFirst() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.replayStamped(() -> this.dq.send(replace("third", LEASE))))
            .isEqualTo(result(SendOutcome.AFTER_CURRENT, at(30)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("third", at(30)));
    }

    @Test
    void replacesHeadersPriorityAndTimeToLiveToo() {
        this.dq
            .send(new NewMessage(ID, false, DueTime.after(DELAY), OnDuplicate.KEEP, 7, DELAY, null, envelope("first")));

        this.dq.send(replace("second", DELAY));

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void forgetsTheFailuresOfWhatItReplaces() {
        Lease lease = this.dq.leased();
        this.dq.retry(lease);

        this.dq.send(replace("second", Duration.ZERO));

        assertThat(this.dq.find()).contains(waiting("second", at(0)));
        assertThat(this.dq.retry(lease)).isFalse();
    }

    @Test
    void isNeverGivenTheTokenOfWhatItReplaces() {
        Lease stale = this.dq.leased();
        this.dq.release(stale);
        this.dq.send(replace("second", Duration.ZERO));

        Lease lease = this.dq.claim(1, Duration.ofSeconds(1), ExpiryPolicy.DROP).messages().get(0).lease();

        assertThat(Long.parseLong(lease.token())).isGreaterThan(Long.parseLong(stale.token()));
    }

}
