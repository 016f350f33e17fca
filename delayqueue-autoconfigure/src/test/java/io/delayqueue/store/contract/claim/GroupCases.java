package io.delayqueue.store.contract.claim;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.DeadLetterEvent;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueStatistics;
import io.delayqueue.RedriveResult;
import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.ClaimedMessageValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.WakeUpProbe;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageStore;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.GroupValues.dueAt;
import static io.delayqueue.fixtures.store.GroupValues.follower;
import static io.delayqueue.fixtures.store.GroupValues.grouped;
import static io.delayqueue.fixtures.store.GroupValues.message;
import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.called;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Groups. Unless a case says otherwise there are three messages of one group, x, y and z,
 * due at the seconds 1, 2 and 3, and it is second 10.
 */
public abstract class GroupCases extends StoreCases {

    public GroupCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void areHandledOneAtATimeInDueOrder() {
        this.dq.threeOfAGroup();

        assertThat(this.dq.claim().ids()).containsExactly("x");
        assertThat(this.dq.claim().ids()).isEmpty();
    }

    @Test
    void goOnWhenTheirHeadIsAcknowledged() {
        this.dq.threeOfAGroup();

        assertThat(this.dq.drained()).containsExactly("x", "y", "z");
    }

    @Test
    void goByIdWhereTheDueTimeIsTheSame() {
        for (String id : List.of("b", "a-", "a", "a:")) {
            this.dq.send(grouped("g", id, DELAY));
        }
        this.dq.send(grouped("h", "z", DELAY));
        this.dq.send(grouped("h", "Z", DELAY));
        this.dq.advance(DELAY);

        assertThat(this.dq.drained()).containsExactly("Z", "a", "a-", "z", "a:", "b");
    }

    @Test
    void doNotWaitForEachOther() {
        this.dq.threeOfAGroup();
        this.dq.send(grouped("other", "a", Duration.ZERO));
        this.dq.send(called("none", Duration.ZERO));

        assertThat(this.dq.claim().ids()).containsExactlyInAnyOrder("x", "a", "none");
    }

    @Test
    void areDistinguishedByTheirWholeName() {
        List<String> names = List.of("g", "g1", "g:", "g-", "G");
        for (String name : names) {
            this.dq.send(grouped(name, name + "1", Duration.ZERO));
            this.dq.send(grouped(name, name + "2", Duration.ofMillis(1)));
        }
        this.dq.advance(DELAY);

        ClaimValues heads = this.dq.claim();
        assertThat(heads.ids()).containsExactlyInAnyOrder("g1", "g11", "g:1", "g-1", "G1");
        this.dq.acknowledgeAll(heads.leases());
        assertThat(this.dq.claim().ids()).containsExactlyInAnyOrder("g2", "g12", "g:2", "g-2", "G2");
    }

    @Test
    void takeNoMessageOfAnother() {
        this.dq.threeOfAGroup();
        this.dq.send(grouped("before", "a", Duration.ZERO));
        this.dq.send(grouped("later", "b", Duration.ZERO));
        ClaimValues heads = this.dq.claim();

        this.dq.acknowledge(heads.leases().get(1));
        this.dq.acknowledge(heads.leases().get(2));

        assertThat(heads.ids()).containsExactly("x", "a", "b");
        assertThat(this.dq.claim().ids()).isEmpty();
    }

    @Test
    void letAnEarlierMessagePassAHeadThatWasNotClaimed() {
        this.dq.send(grouped("g", "b", DELAY));
        this.dq.send(grouped("g", "a", Duration.ofSeconds(5)));

        assertThat(this.dq.claim().nextAt()).isEqualTo(at(5));
        this.dq.advance(DELAY);
        assertThat(this.dq.drained()).containsExactly("a", "b");
    }

    @Test
    void letNothingPassAHeadThatIsLeased() {
        this.dq.send(grouped("g", "b", DELAY));
        this.dq.advance(DELAY);
        Lease lease = this.dq.claimOne();

        this.dq.send(grouped("g", "a", Duration.ZERO));

        assertThat(this.dq.claim().ids()).isEmpty();
        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.claim().ids()).containsExactly("a");
    }

    @Test
    void keepTheOrderOfARetry() {
        this.dq.send(grouped("g", "x", Duration.ZERO));
        this.dq.send(grouped("g", "y", Duration.ofSeconds(1)));

        assertThat(this.dq.retry(this.dq.claimOne(), DELAY, "failure")).isTrue();
        this.dq.send(grouped("g", "a", Duration.ZERO));

        this.dq.advance(Duration.ofSeconds(5));
        assertThat(this.dq.claim()).isEqualTo(ClaimValues.nothing(at(10)));
        this.dq.advance(Duration.ofSeconds(5));
        assertThat(this.dq.drained()).containsExactly("x", "a", "y");
    }

    @Test
    void keepTheOrderOfARepeatedRetry() {
        this.dq.threeOfAGroup();
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.replay(() -> this.dq.retry(lease, DELAY, "failure"))).isTrue();

        assertThat(this.dq.claim().ids()).isEmpty();
        this.dq.advance(DELAY);
        assertThat(this.dq.drained()).containsExactly("x", "y", "z");
    }

    @Test
    void keepTheOrderOfARelease() {
        this.dq.send(grouped("g", "x", Duration.ZERO));
        this.dq.send(grouped("g", "y", Duration.ofSeconds(1)));
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.replay(() -> this.dq.release(lease, DELAY))).isTrue();
        this.dq.send(grouped("g", "a", Duration.ZERO));

        this.dq.advance(Duration.ofSeconds(5));
        assertThat(this.dq.claim().ids()).isEmpty();
        this.dq.advance(Duration.ofSeconds(5));
        assertThat(this.dq.drained()).containsExactly("x", "a", "y");
    }

    @Test
    void keepTheOrderOfAReleaseBeforeTheStart() {
        this.dq.threeOfAGroup();
        ClaimValues claim = this.dq.claim();
        this.dq.advance(DELAY);

        assertThat(this.dq.replay(() -> this.dq.releaseUnseen(claim))).containsExactly(true);
        this.dq.send(dueAt("g", "a", at(0)));

        ClaimValues again = this.dq.claim();
        assertThat(again.messages()).extracting(ClaimedMessageValues::dueAt).containsExactly(at(1));
        assertThat(this.dq.acknowledgeAll(again.leases())).containsExactly(true);
        assertThat(this.dq.drained()).containsExactly("y", "z", "a");
    }

    @Test
    void keepTheOrderOfALapsedMessage() {
        this.dq.threeOfAGroup();
        Lease stale = this.dq.claimOne();
        this.dq.advance(LEASE);
        this.dq.send(dueAt("g", "a", at(0)));

        ClaimValues again = this.dq.claim();
        assertThat(again.messages()).extracting(ClaimedMessageValues::dueAt).containsExactly(at(1));
        assertThat(again.ids()).containsExactly("x");
        assertThat(this.dq.acknowledge(stale)).isFalse();
        assertThat(this.dq.acknowledgeAll(again.leases())).containsExactly(true);
        assertThat(this.dq.drained()).containsExactly("y", "z", "a");
    }

    @Test
    void goOnOnceWhenAnAcknowledgementIsRepeated() {
        this.dq.threeOfAGroup();
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.replay(() -> this.dq.acknowledge(lease))).isFalse();

        assertThat(this.dq.claim().ids()).containsExactly("y");
        assertThat(this.dq.claim().ids()).isEmpty();
    }

    @Test
    void continueWhenTheirHeadIsDeadLetteredAndAcceptItsRedrive() {
        this.dq.threeOfAGroup();
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.replay(() -> this.dq.deadLetter(lease))).isTrue();
        assertThat(this.dq.deadLetters())
            .extracting((deadLetter) -> deadLetter.group() + " " + deadLetter.messageId() + " " + deadLetter.cause())
            .containsExactly("g x failure");
        assertThat(this.dq.redrive(lease)).isEqualTo(RedriveResult.REDRIVEN);

        assertThat(this.dq.find("x")).contains(follower("x", at(10)));
        assertThat(this.dq.drained()).containsExactly("y", "z", "x");
    }

    @Test
    void goOnWhenTheirHeadHasExpired() {
        this.dq.send(message("g", "x", OnDuplicate.KEEP, 4, Duration.ofSeconds(1)));
        this.dq.send(message("g", "y", OnDuplicate.KEEP, 0, null));
        this.dq.advance(DELAY);

        ClaimValues claim = this.dq.claim();

        assertThat(claim.expired()).isEqualTo(1);
        assertThat(claim.ids()).containsExactly("y");
        assertThat(claim.nextAt()).isEqualTo(at(40));
    }

    @Test
    void areRemovedAHundredAtATimeWhenTheyHaveExpired() {
        int many = 2_000;
        for (int i = 0; i < many; i += MessageStore.BATCH_LIMIT) {
            this.dq.sendAll(IntStream.range(i, i + MessageStore.BATCH_LIMIT)
                .mapToObj((each) -> message("g", "g%04d".formatted(each), OnDuplicate.KEEP, 4, Duration.ofSeconds(1)))
                .toList());
        }
        this.dq.send(called("other", Duration.ofSeconds(5)));
        this.dq.advance(DELAY);

        List<ClaimValues> claims = Stream.generate(this.dq::claim).limit(many / MessageStore.BATCH_LIMIT).toList();

        assertThat(claims).extracting(ClaimValues::expired).containsOnly(MessageStore.BATCH_LIMIT);
        assertThat(claims.get(0).ids()).containsExactly("other");
        assertThat(claims.get(0).nextAt()).isEqualTo(at(0));
        assertThat(claims.get(claims.size() - 1).nextAt()).isEqualTo(at(40));
    }

    @Test
    void leaveWhatHasExpiredInAnotherLaneToTheSameClaim() {
        this.dq.send(message("g", "x", OnDuplicate.KEEP, 2, Duration.ofSeconds(1)));
        this.dq.send(message("g", "y", OnDuplicate.KEEP, 9, Duration.ofSeconds(1)));
        this.dq.send(message("g", "z", OnDuplicate.KEEP, 0, null));
        this.dq.advance(DELAY);

        ClaimValues claim = this.dq.claim(1, LEASE, ExpiryPolicy.DEAD_LETTER);

        assertThat(claim.deadLettered()).extracting(DeadLetterEvent::id).containsExactly("x", "y");
        assertThat(claim.ids()).containsExactly("z");
    }

    @Test
    void areKeptInTheDeadLetterOfAnExpiredMessage() {
        this.dq.send(message("g", "x", OnDuplicate.KEEP, 9, Duration.ofSeconds(1)));
        this.dq.send(message("g", "y", OnDuplicate.KEEP, 9, Duration.ofSeconds(1)));
        this.dq.advance(DELAY);

        this.dq.claim(1, LEASE, ExpiryPolicy.DEAD_LETTER);
        this.dq.claim(1, LEASE, ExpiryPolicy.DEAD_LETTER);

        assertThat(this.dq.deadLetters())
            .extracting((deadLetter) -> deadLetter.group() + " " + deadLetter.messageId() + " " + deadLetter.cause())
            .containsExactlyInAnyOrder("g x expired", "g y expired");
    }

    @Test
    void countTheLaneOfTheirHeadOnly() {
        this.dq.send(message("g", "x", OnDuplicate.KEEP, 0, null));
        this.dq.advance(Duration.ofMillis(1));
        this.dq.send(message("g", "y", OnDuplicate.KEEP, 9, null));
        this.dq.send(called("plain", Duration.ZERO));

        assertThat(this.dq.claim(1, LEASE, ExpiryPolicy.DROP).ids()).containsExactly("plain");
        this.dq.acknowledge(this.dq.claimOne());
        this.dq.send(called("another", Duration.ZERO));
        assertThat(this.dq.claim(1, LEASE, ExpiryPolicy.DROP).ids()).containsExactly("y");
    }

    @Test
    void areCountedAsScheduledAndDueByTheirHead() {
        this.dq.threeOfAGroup();

        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics("contract", 3, 1, 0, 0, at(1)));
        this.dq.claim();
        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics("contract", 2, 0, 1, 0, null));
    }

    @Test
    void wakeWorkersWhenTheirHeadIsAcknowledged() {
        this.dq.threeOfAGroup();
        Lease lease = this.dq.claimOne();
        try (WakeUpProbe probe = this.dq.listen()) {
            this.dq.acknowledge(lease);

            assertThat(probe.awaitNotification()).isTrue();
        }
    }

    @Test
    void wakeWorkersWhenTheirHeadIsCancelled() {
        this.dq.send(grouped("g", "x", Duration.ZERO));
        this.dq.send(grouped("g", "y", Duration.ZERO));
        this.dq.retry(this.dq.claimOne());
        this.dq.claim();
        try (WakeUpProbe probe = this.dq.listen()) {
            this.dq.cancel("x");

            assertThat(probe.awaitNotification()).isTrue();
        }
    }

    @Test
    void wakeWorkersWhenTheirHeadIsDeadLettered() {
        this.dq.threeOfAGroup();
        Lease lease = this.dq.claimOne();
        this.dq.claim();
        try (WakeUpProbe probe = this.dq.listen()) {
            this.dq.deadLetter(lease);

            assertThat(probe.awaitNotification()).isTrue();
        }
    }

    @Test
    void wakeWorkersWhenTheirHeadIsRescheduled() {
        this.dq.send(grouped("g", "x", Duration.ZERO));
        this.dq.send(grouped("g", "y", Duration.ZERO));
        this.dq.retry(this.dq.claimOne());
        this.dq.claim();
        try (WakeUpProbe probe = this.dq.listen()) {
            this.dq.reschedule("x", LEASE);

            assertThat(probe.awaitNotification()).isTrue();
        }
    }

    @Test
    void doNotSlowOthersHoweverManyFollow() {
        int many = 1_000;
        for (int i = 0; i < many; i += MessageStore.BATCH_LIMIT) {
            this.dq.sendAll(IntStream.range(i, i + MessageStore.BATCH_LIMIT)
                .mapToObj((each) -> grouped("g", "g%04d".formatted(each), Duration.ZERO))
                .toList());
        }
        Lease stuck = this.dq.claimOne();
        this.dq.send(grouped("h", "h", Duration.ZERO));

        assertThat(this.dq.claim().ids()).containsExactly("h");

        assertThat(this.dq.statistics().scheduled()).isEqualTo(many - 1);
        assertThat(this.dq.acknowledge(stuck)).isTrue();
        assertThat(this.dq.drained()).hasSize(many - 1).isSorted();
    }

}
