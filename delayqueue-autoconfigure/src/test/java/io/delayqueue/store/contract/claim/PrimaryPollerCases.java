package io.delayqueue.store.contract.claim;

import java.time.Duration;

import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.fixtures.store.StoreValues;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.PrimaryPollerBid;
import io.delayqueue.store.PrimaryPollerBid.Kind;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.QUEUE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests which node a claim makes the primary poller, and that this has no other effect.
 */
public abstract class PrimaryPollerCases extends StoreCases {

    private final StoreFixture contract;

    public PrimaryPollerCases(StoreFixture contract) {
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
    void isTheFirstNodeThatBids() {
        assertThat(claim(bid("one", Kind.ACQUIRE)).primaryPoller()).isTrue();
        assertThat(claim(bid("one", Kind.ACQUIRE)).primaryPoller()).isTrue();
        assertThat(claim(bid("one", Kind.RENEW)).primaryPoller()).isTrue();
    }

    @Test
    void isNoNodeThatDoesNotBid() {
        assertThat(claim(null).primaryPoller()).isFalse();
    }

    @Test
    void mayResignAndBidAgain() {
        claim(bid("one", Kind.ACQUIRE));

        assertThat(this.contract.store().resign(QUEUE, "one").join()).isTrue();
        assertThat(claim(bid("other", Kind.ACQUIRE)).primaryPoller()).isTrue();
    }

    @Test
    void isOfNoConcernToWhatIsClaimed() {
        this.dq.due();
        claim(bid("one", Kind.ACQUIRE));
        this.dq.send(StoreValues.called("b", Duration.ZERO));
        this.dq.send(StoreValues.called("c", DELAY));

        ClaimResult claim = claim(bid("other", Kind.ACQUIRE));
        assertThat(ClaimValues.of(claim).ids()).containsExactly("b");
        assertThat(claim.nextAt()).isEqualTo(at(10));
    }

}
