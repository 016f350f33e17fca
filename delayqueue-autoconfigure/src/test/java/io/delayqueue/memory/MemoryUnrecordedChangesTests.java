package io.delayqueue.memory;

import java.time.Duration;
import java.util.List;

import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.LedgerChanges;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.LedgerRequest;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.envelope.EnvelopeCodec;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import static io.delayqueue.fixtures.store.StoreValues.HOME;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.QUEUE;
import static io.delayqueue.fixtures.store.StoreValues.called;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests the bound of the changes of a ledger in memory that no journal has recorded. */
class MemoryUnrecordedChangesTests {

    private static final PartitionLayout LEDGER = new PartitionLayout(1, List.of(1), true, null, true);

    private final InMemoryMessageStore store = new InMemoryMessageStore(new EnvelopeCodec(JsonMapper.shared()),
            new ManualClock(), 1);

    @Test
    void nothingOfALedgerIsClaimedWhileTooManyChangesWait() {
        for (int i = 1; i <= 3; i++) {
            this.store.schedule(HOME, List.of(called("order-" + i, Duration.ZERO).withRevision(i))).join();
        }
        this.store.acknowledge(QUEUE, List.of(claim().messages().get(0).lease())).join();

        assertThat(claim().messages()).as("of a queue that is no ledger").hasSize(1);
        this.store.partitionRecords().raise(QUEUE, LEDGER).join();
        ClaimResult full = claim();
        changes(changes(List.of()).entries());
        ClaimResult recorded = claim();

        assertThat(full.messages()).isEmpty();
        assertThat(full.nextAt()).isEqualTo(ManualClock.START.plusSeconds(1));
        assertThat(full.partitionsVersion()).isOne();
        assertThat(recorded.messages()).as("once a journal has recorded some").hasSize(1);
    }

    private ClaimResult claim() {
        return this.store.claim(QUEUE, new ClaimRequest(1, LEASE, ExpiryPolicy.DROP)).join();
    }

    private LedgerChanges changes(List<LedgerEntry> recorded) {
        LedgerRequest request = new LedgerRequest("journal-1", 1, 0, LEASE, LEASE, recorded, List.of(),
                LedgerRequest.LIMIT);
        return this.store.changes(QUEUE, request).join();
    }

}
