package io.delayqueue.store.contract.send;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.QueueStatistics;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.GroupValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.fixtures.store.StoreValues;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.QUEUE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.called;
import static io.delayqueue.fixtures.store.StoreValues.inLane;
import static io.delayqueue.fixtures.store.StoreValues.keep;
import static io.delayqueue.fixtures.store.StoreValues.lease;
import static io.delayqueue.fixtures.store.StoreValues.neverGiven;
import static io.delayqueue.fixtures.store.StoreValues.result;
import static org.assertj.core.api.Assertions.assertThat;

/** Many messages, many leases, many threads. */
public abstract class BatchCases extends StoreCases {

    public BatchCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void areStoredAndClaimedInFull() {
        assertThat(this.dq.sendAll(many(100))).hasSize(100).allMatch((sent) -> sent.outcome() == SendOutcome.SCHEDULED);

        assertThat(this.dq.claim().messages()).hasSize(100);
    }

    @Test
    void answerInTheOrderTheyWereSent() {
        this.dq.scheduled();

        List<SendResult> results = this.dq
            .sendAll(List.of(called("b", LEASE), keep("second", LEASE), inLane(9, "c", Duration.ZERO)));

        assertThat(results).containsExactly(new SendResult(QUEUE.queue().value(), "b", at(30), SendOutcome.SCHEDULED),
                result(SendOutcome.KEPT, at(10)),
                new SendResult(QUEUE.queue().value(), "c", at(0), SendOutcome.SCHEDULED));
    }

    @Test
    void keepWhatIsHeldAndAddTheRest() {
        this.dq.scheduled();

        List<SendResult> results = this.dq.sendAll(List.of(called("b", LEASE), keep("second", LEASE)));

        assertThat(results).containsExactly(new SendResult(QUEUE.queue().value(), "b", at(30), SendOutcome.SCHEDULED),
                result(SendOutcome.KEPT, at(10)));
    }

    @Test
    void areClaimedUpToTheLimit() {
        this.dq.sendAll(many(100));

        ClaimValues claim = this.dq.claim(30, LEASE, ExpiryPolicy.DROP);

        assertThat(claim.messages()).hasSize(30);
        assertThat(claim.nextAt()).isEqualTo(at(0));
        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics(QUEUE.queue().value(), 70, 70, 30, 0, at(0)));
    }

    @Test
    void areClaimedAMebibyteAtATime() {
        this.dq.sendAll(large(20, 200_000, null));

        List<ClaimValues> claims = Stream.generate(this.dq::claim).limit(5).toList();

        assertThat(claims).extracting((claim) -> claim.ids().size()).containsExactly(6, 6, 6, 2, 0);
        assertThat(claims).flatExtracting(ClaimValues::ids).hasSize(20).isSorted();
        assertThat(claims.get(0).nextAt()).isEqualTo(at(0));
        assertThat(claims.get(3).nextAt()).isEqualTo(at(30));
    }

    @Test
    void areClaimedAMebibyteAtATimeBesideOthers() {
        this.dq.sendAll(large(20, 200_000, LEASE));
        this.dq.send(inLane(9, "urgent", Duration.ZERO));

        List<ClaimValues> claims = Stream.generate(this.dq::claim).limit(5).toList();

        assertThat(claims).extracting((claim) -> claim.ids().size()).containsExactly(7, 6, 6, 2, 0);
        assertThat(claims.get(0).ids()).startsWith("urgent");
    }

    @Test
    void areRemovedAMebibyteAtATimeWhenTheyHaveExpired() {
        this.dq.sendAll(large(20, 200_000, DELAY));
        this.dq.advance(DELAY);

        List<ClaimValues> claims = Stream.generate(() -> this.dq.claim(100, LEASE, ExpiryPolicy.DEAD_LETTER))
            .limit(4)
            .toList();

        assertThat(claims).extracting(ClaimValues::expired).containsExactly(6, 6, 6, 2);
        assertThat(claims).extracting((claim) -> claim.deadLettered().size()).containsExactly(6, 6, 6, 2);
        assertThat(claims.get(0).nextAt()).isEqualTo(at(0));
    }

    @Test
    void areClaimedOneByOneWhereEachIsTooLarge() {
        this.dq.sendAll(large(3, 1_500_000, null));

        assertThat(Stream.generate(this.dq::claim).limit(4)).extracting((claim) -> claim.ids().size())
            .containsExactly(1, 1, 1, 0);
    }

    @Test
    void areNotManyMoreWhereLargeOnesFollowSmallOnes() {
        this.dq.sendAll(many(17));
        this.dq.advance(Duration.ofMillis(1));
        this.dq.sendAll(large(80, 200_000, null));

        assertThat(this.dq.claim().ids()).hasSizeBetween(18, 17 + 16).startsWith("m000");
        this.dq.claim();
    }

    private static List<NewMessage> large(int count, int bytes, @Nullable Duration timeToLive) {
        return IntStream.range(0, count)
            .mapToObj((each) -> StoreValues.large("l%03d".formatted(each), bytes, timeToLive))
            .toList();
    }

    @Test
    void areAcknowledgedOneByOne() {
        this.dq.sendAll(many(3));
        List<Lease> stale = this.dq.claim().leases();
        this.dq.advance(LEASE);
        List<Lease> live = this.dq.claim().leases();

        assertThat(this.dq.acknowledgeAll(List.of(live.get(0), stale.get(1), live.get(2), neverGiven())))
            .containsExactly(true, false, true, false);

        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics(QUEUE.queue().value(), 0, 0, 1, 0, null));
    }

    @Test
    void areAcknowledgedWithTheirSuccessors() {
        this.dq.sendAll(many(3));
        List<Lease> leases = this.dq.claim().leases();
        this.dq.sendAll(List.of(GroupValues.following(null, "m001", DELAY)));

        assertThat(this.dq.acknowledgeAll(leases)).containsExactly(true, true, true);

        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics(QUEUE.queue().value(), 1, 0, 0, 0, at(10)));
    }

    @Test
    void areReleasedOneByOne() {
        this.dq.sendAll(many(3));
        List<Lease> stale = this.dq.claim().leases();
        this.dq.advance(LEASE);
        List<Lease> live = this.dq.claim().leases();

        assertThat(this.dq.releaseAll(List.of(stale.get(0), live.get(1), live.get(2)))).containsExactly(false, true,
                true);

        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics(QUEUE.queue().value(), 2, 2, 1, 0, at(30)));
    }

    @Test
    void shareOneToken() {
        this.dq.sendAll(many(3));

        assertThat(this.dq.claim().leases()).extracting(Lease::token).containsOnly(lease(at(30)).token());
    }

    @Test
    void areEndedAHundredAtATimeWhenTheirLeasesRunOut() {
        for (int i = 0; i < 250; i += 50) {
            this.dq.sendAll(many(i, i + 50));
        }
        this.dq.claim();
        this.dq.claim();
        this.dq.claim();
        this.dq.advance(LEASE);

        ClaimValues first = this.dq.claim();
        ClaimValues second = this.dq.claim();
        ClaimValues third = this.dq.claim();

        assertThat(List.of(first.messages().size(), second.messages().size(), third.messages().size()))
            .containsExactly(100, 100, 50);
        assertThat(List.of(first.nextAt(), second.nextAt(), third.nextAt())).containsExactly(at(30), at(30), at(60));
    }

    @Test
    void doNotKeepWhatIsDueFromBeingClaimedWhenTheirLeasesRanOut() {
        this.dq.sendAll(many(100));
        this.dq.send(called("x", Duration.ofSeconds(5)));
        this.dq.advance(DELAY);
        this.dq.claim();
        this.dq.advance(LEASE);

        // It was due before their leases were given.
        assertThat(this.dq.claim(1, LEASE, ExpiryPolicy.DROP).ids()).containsExactly("x");
    }

    @Test
    void goToOneOfManyThreadsEach() {
        for (int i = 0; i < 400; i += 100) {
            this.dq.sendAll(many(i, i + 100));
        }
        List<String> handled = Collections.synchronizedList(new ArrayList<>());

        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            CompletableFuture<?>[] workers = IntStream.range(0, 4)
                .mapToObj((worker) -> CompletableFuture.runAsync(() -> handleAll(handled), threads))
                .toArray(CompletableFuture[]::new);
            CompletableFuture.allOf(workers).join();
        }
        finally {
            threads.shutdown();
        }

        assertThat(handled).hasSize(400).doesNotHaveDuplicates();
    }

    private void handleAll(List<String> handled) {
        List<Lease> leases;
        do {
            ClaimValues claim = this.dq.claim(7, LEASE, ExpiryPolicy.DROP);
            leases = claim.leases();
            handled.addAll(claim.ids());
            if (!leases.isEmpty()) {
                this.dq.acknowledgeAll(leases);
            }
        }
        while (!leases.isEmpty());
    }

    private static List<NewMessage> many(int count) {
        return many(0, count);
    }

    private static List<NewMessage> many(int from, int to) {
        return IntStream.range(from, to).mapToObj((i) -> called("m%03d".formatted(i), Duration.ZERO)).toList();
    }

}
