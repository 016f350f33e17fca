package io.delayqueue.store.contract.claim;

import java.time.Duration;

import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.WakeUpProbe;
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
        try (WakeUpProbe probe = this.dq.listen()) {
            this.dq.scheduled();

            assertThat(probe.awaitNotification()).isTrue();
        }
    }

    @Test
    void comesWithASendToAnotherLane() {
        try (WakeUpProbe probe = this.dq.listen()) {
            this.dq.send(inLane(9, "urgent", Duration.ZERO));

            assertThat(probe.awaitNotification()).isTrue();
        }
    }

    @Test
    void comesWithASendThatIsDueEarlier() {
        this.dq.scheduled();
        this.dq.claim();
        try (WakeUpProbe probe = this.dq.listen()) {
            this.dq.send(called("b", Duration.ofSeconds(5)));

            assertThat(probe.awaitNotification()).isTrue();
        }
    }

    @Test
    void comesWithARetry() {
        Lease lease = this.dq.leased();
        try (WakeUpProbe probe = this.dq.listen()) {
            this.dq.retry(lease);

            assertThat(probe.awaitNotification()).isTrue();
        }
    }

    @Test
    void comesWithARelease() {
        Lease lease = this.dq.leased();
        try (WakeUpProbe probe = this.dq.listen()) {
            this.dq.release(lease);

            assertThat(probe.awaitNotification()).isTrue();
        }
    }

    @Test
    void comesWithAReleaseBeforeTheStart() {
        Lease lease = this.dq.leased();
        this.dq.advance(DELAY);
        this.dq.claim();
        try (WakeUpProbe probe = this.dq.listen()) {
            this.dq.releaseUnseen(lease, at(0));

            assertThat(probe.awaitNotification()).isTrue();
        }
    }

    @Test
    void comesWithARedrive() {
        Lease dead = this.dq.dead();
        try (WakeUpProbe probe = this.dq.listen()) {
            this.dq.redrive(dead);

            assertThat(probe.awaitNotification()).isTrue();
        }
    }

    @Test
    void comesWithAReschedule() {
        this.dq.scheduled();
        this.dq.claim();
        try (WakeUpProbe probe = this.dq.listen()) {
            this.dq.reschedule(Duration.ofSeconds(5));

            assertThat(probe.awaitNotification()).isTrue();
        }
    }

    @Test
    void comesWithASuccessor() {
        Lease lease = this.dq.withSuccessor();
        try (WakeUpProbe probe = this.dq.listen()) {
            this.dq.acknowledge(lease);

            assertThat(probe.awaitNotification()).isTrue();
        }
    }

    @Test
    void comesToAllListeners() {
        try (WakeUpProbe one = this.dq.listen(); WakeUpProbe other = this.dq.listen()) {
            this.dq.scheduled();

            assertThat(one.awaitNotification()).isTrue();
            assertThat(other.awaitNotification()).isTrue();
        }
    }

    @Test
    void comesNoMoreOnceTheListenerHasLeft() {
        WakeUpProbe gone = this.dq.listen();
        try (WakeUpProbe probe = this.dq.listen()) {
            gone.close();
            gone.close();
            this.dq.scheduled();

            assertThat(probe.awaitNotification()).isTrue();
            assertThat(gone.isNotified()).isFalse();
        }
    }

}
