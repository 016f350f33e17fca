package io.delayqueue.integration.outage;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

import io.delayqueue.DelayedMessage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.fixtures.application.Applications;
import io.delayqueue.fixtures.application.OrderHandler.Order;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.store.Lease;
import io.delayqueue.store.PrimaryPollerBid;
import io.delayqueue.store.UnstartedLease;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds the scripts of claims, and of the calls with a lease, for
 * {@link ReplayedScriptTests}.
 */
final class ReplayedLeaseCases extends ReplayedCases {

    ReplayedLeaseCases(ReplayedApplication replayed) {
        super(replayed);
    }

    @Override
    Map<String, Runnable> cases() {
        return Map.ofEntries(Map.entry("claim", this::aClaimOfHeadsOfGroups),
                Map.entry("resign-primary", this::aResignation),
                Map.entry("acknowledge", this::aBatchOfAcknowledgements), Map.entry("extend", this::aBatchOfExtensions),
                Map.entry("mark-started", this::aStart), Map.entry("retry", this::aRetryOfAHead),
                Map.entry("release", this::aBatchOfReleases), Map.entry("dead-letter", this::aDeathOfAHead));
    }

    private void aClaimOfHeadsOfGroups() {
        this.queue.sendAll(grouped(3, Duration.ZERO));
        awaitDue();
        ClaimResult lost = repeated("claim", () -> claim(Duration.ofSeconds(4), BID));

        assertThat(lost.messages()).isEmpty();
        assertThat(lost.primaryPoller()).isTrue();
        for (int i = 0; i < 3; i++) {
            ClaimedMessage head = claimed(1).get(0);
            assertThat(head.lease().id()).isEqualTo("m-" + i);
            assertThat(head.redelivered()).isEqualTo(i == 0);
            assertThat(head.lapses() + head.failures()).isZero();
            assertThat(this.store.acknowledge(ORDERS, List.of(head.lease())).join()).containsExactly(true);
        }
        assertThat(this.store.resign(ORDERS, BID.node()).join()).isTrue();
    }

    private void aResignation() {
        assertThat(claim(LEASE, BID).primaryPoller()).isTrue();
        assertThat(repeated("resign-primary", () -> this.store.resign(ORDERS, BID.node()).join())).isFalse();

        PrimaryPollerBid another = new PrimaryPollerBid("another", PrimaryPollerBid.Kind.ACQUIRE, 0, LEASE);
        assertThat(claim(LEASE, another).primaryPoller()).isTrue();
        assertThat(this.store.resign(ORDERS, "another").join()).isTrue();
    }

    private void aBatchOfAcknowledgements() {
        this.queue.sendAll(plain(2, Duration.ZERO));
        this.queue.sendAll(List.of(grouped("m-2", Duration.ZERO), grouped("m-3", Duration.ZERO)));
        List<Lease> leases = leases(claimed(3));
        this.queue.send(DelayedMessage.builder("orders", new Order(9))
            .id("m-0")
            .onDuplicate(OnDuplicate.AFTER_CURRENT)
            .delay(FAR)
            .build());
        repeated("acknowledge", () -> this.store.acknowledge(ORDERS, leases).join());

        assertThat(counts()).isEqualTo(List.of(2L, 0L, 0L));
        assertThat(this.queue.find("orders", "m-0").orElseThrow().payload()).contains("9");
        List<Lease> follower = leases(claimed(1));
        assertThat(follower).extracting(Lease::id).containsExactly("m-3");
        assertThat(this.store.acknowledge(ORDERS, follower).join()).containsExactly(true);
        cancelled("m-0");
    }

    private void aBatchOfExtensions() {
        List<Lease> leases = leased(3);
        assertThat(repeated("extend", () -> this.store.extend(ORDERS, leases, FAR).join())).containsOnly(true);

        Instant before = Applications.timeOf(this.redis.commands()).plus(FAR.dividedBy(2));
        assertThat(this.queue.find("orders", "m-2").orElseThrow().leasedUntil()).isAfter(before);
        assertThat(this.store.acknowledge(ORDERS, leases).join()).containsOnly(true);
    }

    private void aStart() {
        List<Lease> leases = leased(1);
        assertThat(repeated("mark-started", () -> this.store.start(leases.get(0)).join())).isTrue();

        assertThat(this.store.acknowledge(ORDERS, leases).join()).containsOnly(true);
    }

    private void aRetryOfAHead() {
        Lease head = leasedHead();
        assertThat(repeated("retry", () -> this.store.retry(head, FAR, "boom").join())).isTrue();

        assertThat(this.queue.find("orders", "head").orElseThrow().failures()).isEqualTo(1);
        assertThat(claim(LEASE, null).messages()).as("the follower waits").isEmpty();
        cancelled("head", "follower");
    }

    private void aBatchOfReleases() {
        this.queue.sendAll(plain(3, Duration.ZERO));
        List<ClaimedMessage> unbegun = claimed(3);
        List<UnstartedLease> due = unbegun.stream().map(ClaimedMessage::unstartedLease).toList();
        assertThat(repeated("release", () -> this.store.release(ORDERS, due).join())).containsOnly(true);
        List<ClaimedMessage> again = claimed(3);
        assertThat(again).extracting(ClaimedMessage::dueAt)
            .containsExactlyElementsOf(unbegun.stream().map(ClaimedMessage::dueAt).toList());
        List<Lease> leases = leases(again);
        assertThat(repeated("release", () -> this.store.release(ORDERS, leases, FAR).join())).containsOnly(true);

        assertThat(counts()).isEqualTo(List.of(3L, 0L, 0L));
        cancelAll(3);
    }

    private void aDeathOfAHead() {
        Lease head = leasedHead();
        assertThat(repeated("dead-letter", () -> this.store.deadLetter(head, deadLetterRequest()).join())).isTrue();

        assertThat(counts()).isEqualTo(List.of(1L, 0L, 1L));
        cancelled("follower");
        assertThat(this.queue.deadLetters("orders").purgeAll()).isEqualTo(1);
    }

}
