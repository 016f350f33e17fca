package io.delayqueue.store.contract.claim;

import java.time.Duration;

import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreDriver.Bell;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.Lease;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.called;
import static io.delayqueue.fixtures.store.StoreValues.inLane;
import static org.assertj.core.api.Assertions.assertThat;

/** {@code listen}. */
public abstract class WakeUpCases extends StoreCases {

    public WakeUpCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void comesWithASend() {
        try (Bell bell = this.dq.listen()) {
            this.dq.scheduled();

            assertThat(bell.rings()).isTrue();
        }
    }

    @Test
    void comesWithASendToAnotherLane() {
        try (Bell bell = this.dq.listen()) {
            this.dq.send(inLane(9, "urgent", Duration.ZERO));

            assertThat(bell.rings()).isTrue();
        }
    }

    @Test
    void comesWithASendThatIsDueEarlier() {
        this.dq.scheduled();
        this.dq.claim();
        try (Bell bell = this.dq.listen()) {
            this.dq.send(called("b", Duration.ofSeconds(5)));

            assertThat(bell.rings()).isTrue();
        }
    }

    @Test
    void comesWithARetry() {
        Lease lease = this.dq.leased();
        try (Bell bell = this.dq.listen()) {
            this.dq.retry(lease);

            assertThat(bell.rings()).isTrue();
        }
    }

    @Test
    void comesWithARelease() {
        Lease lease = this.dq.leased();
        try (Bell bell = this.dq.listen()) {
            this.dq.release(lease);

            assertThat(bell.rings()).isTrue();
        }
    }

    @Test
    void comesWithAReleaseBeforeTheStart() {
        Lease lease = this.dq.leased();
        this.dq.advance(DELAY);
        this.dq.claim();
        try (Bell bell = this.dq.listen()) {
            this.dq.releaseUnseen(lease, at(0));

            assertThat(bell.rings()).isTrue();
        }
    }

    @Test
    void comesWithARedrive() {
        Lease dead = this.dq.dead();
        try (Bell bell = this.dq.listen()) {
            this.dq.redrive(dead);

            assertThat(bell.rings()).isTrue();
        }
    }

    @Test
    void comesWithAReschedule() {
        this.dq.scheduled();
        this.dq.claim();
        try (Bell bell = this.dq.listen()) {
            this.dq.reschedule(Duration.ofSeconds(5));

            assertThat(bell.rings()).isTrue();
        }
    }

    @Test
    void comesWithASuccessor() {
        Lease lease = this.dq.withSuccessor();
        try (Bell bell = this.dq.listen()) {
            this.dq.acknowledge(lease);

            assertThat(bell.rings()).isTrue();
        }
    }

    @Test
    void comesToAllListeners() {
        try (Bell one = this.dq.listen(); Bell other = this.dq.listen()) {
            this.dq.scheduled();

            assertThat(one.rings()).isTrue();
            assertThat(other.rings()).isTrue();
        }
    }

    @Test
    void comesNoMoreOnceTheListenerHasLeft() {
        Bell gone = this.dq.listen();
        try (Bell bell = this.dq.listen()) {
            gone.close();
            gone.close();
            this.dq.scheduled();

            assertThat(bell.rings()).isTrue();
            assertThat(gone.hasRung()).isFalse();
        }
    }

}
