package io.delayqueue.store.contract.send;

import java.time.Duration;

import io.delayqueue.OnDuplicate;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.fixtures.store.StoreValues;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.deadLetterOf;
import static io.delayqueue.fixtures.store.StoreValues.result;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** Cases of {@code schedule} whose result is the same with each {@link OnDuplicate}. */
abstract class SendCases extends StoreCases {

    private final OnDuplicate onDuplicate;

    SendCases(StoreFixture store, OnDuplicate onDuplicate) {
        super(store);
        this.onDuplicate = onDuplicate;
    }

    /** Returns a message with the id that all cases use. */
    NewMessage message(String content, Duration delay) {
        return StoreValues.message(this.onDuplicate, content, delay);
    }

    @Test
    void storesAMessageThatTheQueueDoesNotHold() {
        assertThat(this.dq.send(message("first", DELAY))).isEqualTo(result(SendOutcome.SCHEDULED, at(10)));

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(10)));
    }

    @Test
    void followsAMessageThatIsLeasedAndCancelled() {
        Lease lease = this.dq.cancelled();

        assertThat(this.dq.send(message("second", DELAY))).isEqualTo(result(SendOutcome.AFTER_CURRENT, at(10)));

        assertThat(this.dq.retry(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void storesAMessageWhoseCancelledLeaseRanOut() {
        this.dq.cancelled();
        this.dq.advance(LEASE);

        assertThat(this.dq.send(message("second", DELAY))).isEqualTo(result(SendOutcome.SCHEDULED, at(40)));

        assertThat(this.dq.find()).contains(waiting("second", at(40)));
    }

    @Test
    void storesAMessageWhoseIdHasADeadLetter() {
        Lease lease = this.dq.dead();

        assertThat(this.dq.send(message("second", DELAY))).isEqualTo(result(SendOutcome.SCHEDULED, at(10)));

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
        assertThat(this.dq.deadLetters()).containsExactly(deadLetterOf(lease, at(0)));
    }

    @Test
    void answersARepeatedSendAsTheFirst() {
        assertThat(this.dq.replayStamped(() -> this.dq.send(message("first", DELAY))))
            .isEqualTo(result(SendOutcome.SCHEDULED, at(10)));

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
        assertThat(this.dq.statistics().scheduled()).isEqualTo(1);
    }

}
