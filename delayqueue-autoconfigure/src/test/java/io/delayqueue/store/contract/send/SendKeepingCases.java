package io.delayqueue.store.contract.send;

import io.delayqueue.OnDuplicate;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.Lease;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.firstAttempt;
import static io.delayqueue.fixtures.store.StoreValues.result;
import static io.delayqueue.fixtures.store.StoreValues.redelivered;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cases of {@code schedule} that keep a scheduled message: with KEEP and with
 * AFTER_CURRENT.
 */
abstract class SendKeepingCases extends SendCases {

    SendKeepingCases(StoreFixture store, OnDuplicate onDuplicate) {
        super(store, onDuplicate);
    }

    @Test
    void keepsAMessageThatWaits() {
        this.dq.scheduled();

        assertThat(this.dq.send(message("second", LEASE))).isEqualTo(result(SendOutcome.KEPT, at(10)));

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

    @Test
    void keepsAMessageThatIsDue() {
        this.dq.due();

        assertThat(this.dq.send(message("second", DELAY))).isEqualTo(result(SendOutcome.KEPT, at(0)));

        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(firstAttempt("first", at(0))));
    }

    @Test
    void endsALeaseThatRanOutAndKeepsItsMessage() {
        Lease lease = this.dq.lapsed();

        assertThat(this.dq.send(message("second", DELAY))).isEqualTo(result(SendOutcome.KEPT, at(30)));

        assertThat(this.dq.find()).contains(waiting("first", at(30)));
        assertThat(this.dq.acknowledge(lease)).isFalse();
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.of(redelivered(at(30), at(30), 0, 0)));
    }

    @Test
    void keepsTheFirstSuccessor() {
        Lease lease = this.dq.withSuccessor();

        assertThat(this.dq.send(message("third", LEASE))).isEqualTo(result(SendOutcome.KEPT, at(10)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void keepsTheSuccessorOfALeaseThatRanOut() {
        this.dq.withSuccessor();
        this.dq.advance(LEASE);

        assertThat(this.dq.send(message("third", LEASE))).isEqualTo(result(SendOutcome.KEPT, at(10)));

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void answersARepeatedSendToAnIdThatWaitsAsTheFirst() {
        this.dq.scheduled();

        assertThat(this.dq.replayStamped(() -> this.dq.send(message("second", LEASE))))
            .isEqualTo(result(SendOutcome.KEPT, at(10)));

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
    }

}
