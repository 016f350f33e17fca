package io.delayqueue.store.contract.settle;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.fixtures.store.StoreValues;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.called;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code acknowledge}, of many leases in one call: they are found together where each
 * token is that of many, and each must still be the present one.
 */
public abstract class AcknowledgeBatchCases extends StoreCases {

    public AcknowledgeBatchCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void endsAllLeasesOfAClaimInAnyOrder() {
        List<Lease> leases = new ArrayList<>(claimed("a", 20));
        Collections.reverse(leases);

        assertThat(this.dq.acknowledgeAll(leases)).hasSize(20).containsOnly(true);

        assertThat(held()).isZero();
    }

    @Test
    void endsSomeLeasesOfAClaim() {
        List<Lease> leases = claimed("a", 20);

        assertThat(this.dq.acknowledgeAll(leases.subList(5, 15))).hasSize(10).containsOnly(true);

        assertThat(held()).isEqualTo(10);
        assertThat(this.dq.acknowledgeAll(leases)).startsWith(true, true, true, true, true, false)
            .endsWith(false, true, true, true, true, true);
    }

    @Test
    void endsTheLeasesOfTwoClaims() {
        List<Lease> leases = new ArrayList<>(claimed("a", 20));
        leases.addAll(claimed("b", 20));

        assertThat(this.dq.acknowledgeAll(leases)).hasSize(40).containsOnly(true);

        assertThat(held()).isZero();
    }

    @Test
    void endsLeasesBesideThoseThatAreInAnotherLaneOrCameBackBefore() {
        this.dq.send(StoreValues.inLane(9, "urgent", Duration.ZERO));
        claimed("a", 20);
        this.dq.advance(LEASE);
        List<Lease> leases = this.dq.claim().leases();

        assertThat(this.dq.acknowledgeAll(leases)).hasSize(21).containsOnly(true);

        assertThat(held()).isZero();
        assertThat(this.dq.claim().messages()).isEmpty();
    }

    @Test
    void isRefusedForEachLeaseThatIsNotThePresentOne() {
        List<Lease> stale = claimed("a", 20);
        this.dq.advance(LEASE);
        List<Lease> live = new ArrayList<>(this.dq.claim().leases());
        Lease last = live.set(19, stale.get(19));

        assertThat(this.dq.acknowledgeAll(stale)).hasSize(20).containsOnly(false);
        assertThat(held()).isEqualTo(20);

        assertThat(this.dq.acknowledgeAll(live)).startsWith(true).endsWith(true, false);
        assertThat(held()).isOne();
        assertThat(this.dq.acknowledge(last)).isTrue();
    }

    @Test
    void isRefusedForTheTokenOfOtherMessages() {
        List<Lease> ours = claimed("a", 20);
        String other = claimed("b", 20).get(0).token();
        List<Lease> mixed = ours.stream().map((lease) -> new Lease(lease.partition(), lease.id(), other)).toList();

        assertThat(this.dq.acknowledgeAll(mixed)).hasSize(20).containsOnly(false);

        assertThat(held()).isEqualTo(40);
    }

    @Test
    void isRefusedForTextThatIsNoToken() {
        List<Lease> leases = claimed("a", 20);

        for (String token : List.of("x", "-inf", "(1", "")) {
            List<Lease> wrong = leases.stream()
                .map((lease) -> new Lease(lease.partition(), lease.id(), token))
                .toList();
            assertThat(this.dq.acknowledgeAll(wrong)).as(token).hasSize(20).containsOnly(false);
        }

        assertThat(held()).isEqualTo(20);
    }

    @Test
    void isRefusedForTheSecondOccurrenceOfAMessage() {
        List<Lease> leases = new ArrayList<>(claimed("a", 20));
        leases.add(leases.get(0));

        assertThat(this.dq.acknowledgeAll(leases)).hasSize(21).startsWith(true).endsWith(true, false);

        assertThat(held()).isZero();
    }

    @Test
    void isRefusedForASecondOccurrenceBehindTheLeasesOfAnotherClaim() {
        List<Lease> leases = new ArrayList<>(claimed("a", 20));
        leases.addAll(claimed("b", 20));
        leases.add(leases.get(0));

        assertThat(this.dq.acknowledgeAll(leases)).hasSize(41).startsWith(true).endsWith(true, false);

        assertThat(held()).isZero();
    }

    @Test
    void endsLeasesThatWereExtended() {
        List<Lease> leases = claimed("a", 20);
        leases.subList(0, 10).forEach((lease) -> this.dq.extend(lease, Duration.ofMinutes(1)));

        assertThat(this.dq.acknowledgeAll(leases)).hasSize(20).containsOnly(true);

        assertThat(held()).isZero();
    }

    private List<Lease> claimed(String name, int count) {
        this.dq.advance(Duration.ofMillis(1)); // so that tokens differ
        List<NewMessage> messages = IntStream.range(0, count)
            .mapToObj((i) -> called("%s%02d".formatted(name, i), Duration.ZERO))
            .toList();
        this.dq.sendAll(messages);
        return this.dq.claim().leases();
    }

    private long held() {
        return this.dq.statistics().leased();
    }

}
