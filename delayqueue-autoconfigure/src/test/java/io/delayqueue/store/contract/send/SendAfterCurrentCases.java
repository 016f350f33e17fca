package io.delayqueue.store.contract.send;

import io.delayqueue.OnDuplicate;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.Lease;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.held;
import static io.delayqueue.fixtures.store.StoreValues.result;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code schedule} with AFTER_CURRENT, in each state. */
public abstract class SendAfterCurrentCases extends SendKeepingCases {

    public SendAfterCurrentCases(StoreFixture contract) {
        super(contract, OnDuplicate.AFTER_CURRENT);
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
    void answersARepeatedSendOfASuccessorAsTheFirst() {
        Lease lease = this.dq.leased();

        assertThat(this.dq.replayStamped(() -> this.dq.send(message("second", DELAY))))
            .isEqualTo(result(SendOutcome.AFTER_CURRENT, at(10)));

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

}
