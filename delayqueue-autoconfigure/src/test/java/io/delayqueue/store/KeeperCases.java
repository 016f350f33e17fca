package io.delayqueue.store;

import java.time.Duration;

import io.delayqueue.store.PrimaryPollerBid.Kind;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static io.delayqueue.store.StoreValues.DELAY;
import static io.delayqueue.store.StoreValues.LEASE;
import static io.delayqueue.store.StoreValues.QUEUE;
import static io.delayqueue.store.StoreValues.at;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests which node a claim makes the primary poller, and that this has no other effect.
 */
abstract class KeeperCases extends StoreCases {

    private final MessageStoreContract contract;

    KeeperCases(MessageStoreContract contract) {
        super(contract);
        this.contract = contract;
    }

    private ClaimResult claim(@Nullable PrimaryPollerBid bid) {
        return this.contract.store()
            .claim(QUEUE, new ClaimRequest(MessageStore.BATCH_LIMIT, LEASE, ExpiryPolicy.DROP, bid))
            .join();
    }

    private static PrimaryPollerBid bid(String node, Kind kind) {
        return new PrimaryPollerBid(node, kind, 0, Duration.ofSeconds(6));
    }

    @Test
    void isWhoeverBidsFirst() {
        assertThat(claim(bid("one", Kind.CONFIRM)).keeper()).isTrue();
        assertThat(claim(bid("one", Kind.CONFIRM)).keeper()).isTrue();
        assertThat(claim(bid("one", Kind.HOLD)).keeper()).isTrue();
    }

    @Test
    void isNobodyWhoDoesNotBid() {
        assertThat(claim(null).keeper()).isFalse();
    }

    @Test
    void mayResignAndBidAgain() {
        claim(bid("one", Kind.CONFIRM));

        assertThat(this.contract.store().resign(QUEUE, "one").join()).isTrue();
        assertThat(claim(bid("other", Kind.CONFIRM)).keeper()).isTrue();
    }

    @Test
    void isOfNoConcernToWhatIsClaimed() {
        this.dq.due();
        claim(bid("one", Kind.CONFIRM));
        this.dq.send(StoreValues.called("b", Duration.ZERO));
        this.dq.send(StoreValues.called("c", DELAY));

        ClaimResult claim = claim(bid("other", Kind.CONFIRM));
        assertThat(Claimed.of(claim).ids()).containsExactly("b");
        assertThat(claim.nextAt()).isEqualTo(at(10));
    }

}
