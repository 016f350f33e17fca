package io.delayqueue.integration.outage;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.delayqueue.DeadLetterPage;
import io.delayqueue.OnDuplicate;
import io.delayqueue.RedriveResult;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.HeldRevision;
import io.delayqueue.store.Lease;
import io.delayqueue.store.LedgerChanges;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerRequest;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.OfferConditions;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.RecordedDeadLetter;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The scripts of dead letters, and of a journal, for {@link ReplayedScriptTests}. */
final class ReplayedDeadLetterCases extends ReplayedCases {

    ReplayedDeadLetterCases(ReplayedApplication replayed) {
        super(replayed);
    }

    @Override
    Map<String, Runnable> cases() {
        return Map.ofEntries(Map.entry("redrive", this::aRedriveToAGroup), Map.entry("purge", this::aPurge),
                Map.entry("dead-letters", this::aLookAtDeadLetters),
                Map.entry("restore-dead-letters", this::aRestoreOfADeadLetter),
                Map.entry("changes", this::aCallOfAJournal),
                Map.entry("held-revisions", this::aLookAtTheMessagesOfAJournal));
    }

    private void aRedriveToAGroup() {
        Lease head = leasedHead();
        this.store.deadLetter(head, deadLetterRequest()).join();
        assertThat(repeated("redrive",
                () -> this.store.redrive(PartitionTarget.first(ORDERS.queue()), head.deadLetterId()).join()))
            .isEqualTo(RedriveResult.REDRIVEN);

        assertThat(counts()).isEqualTo(List.of(2L, 0L, 0L));
        cancelled("head", "follower");
    }

    private void aPurge() {
        List<Lease> leases = leased(3);
        leases.forEach((lease) -> this.store.deadLetter(lease, deadLetterRequest()).join());
        assertThat(repeated("purge", () -> this.store.purge(ORDERS, leases.get(0).deadLetterId()).join())).isFalse();
        assertThat(counts()).isEqualTo(List.of(0L, 0L, 2L));

        assertThat(repeated("purge", () -> this.store.purgeOlderThan(ORDERS, Duration.ZERO).join())).isZero();
        assertThat(counts()).isEqualTo(List.of(0L, 0L, 0L));
    }

    private void aLookAtDeadLetters() {
        this.store.deadLetter(leased(1).get(0), deadLetterRequest()).join();
        DeadLetterPage page = repeated("dead-letters", () -> this.queue.deadLetters("orders").list(null, 10));

        assertThat(page.deadLetters()).hasSize(1);
        assertThat(this.queue.deadLetters("orders").purgeAll()).isEqualTo(1);
    }

    private void aRestoreOfADeadLetter() {
        List<RecordedDeadLetter> lost = List.of(new RecordedDeadLetter("m-0~1", "5:5:1:0:0:4:1:0:xsx".getBytes(UTF_8)));
        assertThat(repeated("restore-dead-letters",
                () -> this.store.restoreDeadLetters(ORDERS, Long.MAX_VALUE, lost).join()))
            .isZero();
        assertThat(counts()).isEqualTo(List.of(0L, 0L, 1L));
        assertThat(this.store.purge(ORDERS, "m-0~1").join()).isTrue();
    }

    /** A message whose row the lost answer named is returned again later. */
    private void aCallOfAJournal() {
        NewMessage message = new NewMessage("m-0", false, DueTime.NOW, OnDuplicate.KEEP, 4, null, null,
                new byte[] { 'x' }, 0, 7);
        this.store
            .schedule(PartitionTarget.first(ORDERS.queue()).with(new OfferConditions(7, (partition) -> Long.MAX_VALUE)),
                    List.of(message))
            .join();
        assertThat(this.store.acknowledge(ORDERS, leases(claimed(1))).join()).containsOnly(true);
        LedgerEntry ended = LedgerEntry.ended(7, "m-0");
        LedgerRequest request = new LedgerRequest("j", 1, 0, Duration.ofMillis(1), Duration.ZERO, List.of(), List.of(),
                LedgerRequest.LIMIT);

        LedgerChanges answer = repeated("changes", () -> this.store.changes(ORDERS, request).join());

        assertThat(answer.count()).isEqualTo(2);
        List<LedgerEntry> entries = await().until(() -> this.store.changes(ORDERS, request).join().entries(),
                (all) -> all.size() == 2); // the first call of a journal adds one
        assertThat(entries).contains(ended);
        LedgerRequest deleted = new LedgerRequest("j", 1, 0, Duration.ofMillis(1), Duration.ZERO, entries, List.of(),
                LedgerRequest.LIMIT);
        assertThat(this.store.changes(ORDERS, deleted).join().entries()).isEmpty();
        String stem = this.applications.namespace() + ":{orders}:";
        await().untilAsserted(() -> {
            this.store.changes(ORDERS, request).join();
            assertThat(this.redis.commands().exists(stem + "changes")).isZero();
        });
        this.redis.commands().del(stem + "journal");
    }

    private void aLookAtTheMessagesOfAJournal() {
        this.queue.sendAll(plain(1, FAR));
        List<LedgerEntry> looked = List.of(LedgerEntry.ended(7, "m-0"));

        assertThat(repeated("held-revisions", () -> this.store.heldRevisions(ORDERS, looked).join()))
            .containsExactly(new HeldRevision(false, 0));
        assertThat(counts()).isEqualTo(List.of(1L, 0L, 0L));
        cancelAll(1);
    }

}
