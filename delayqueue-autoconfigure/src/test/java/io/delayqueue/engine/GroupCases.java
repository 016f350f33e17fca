package io.delayqueue.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.delayqueue.CancelResult;
import io.delayqueue.MessageLimits;
import io.delayqueue.MessageState;
import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueStatistics;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoredMessage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static io.delayqueue.engine.StoreValues.DELAY;
import static io.delayqueue.engine.StoreValues.LEASE;
import static io.delayqueue.engine.StoreValues.QUEUE;
import static io.delayqueue.engine.StoreValues.at;
import static io.delayqueue.engine.StoreValues.called;
import static io.delayqueue.engine.StoreValues.envelope;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Groups. Unless a case says otherwise there are three messages of one group, x, y and z,
 * due at the seconds 1, 2 and 3, and it is second 10.
 */
abstract class GroupCases extends StoreCases {

    GroupCases(MessageStoreContract contract) {
        super(contract);
    }

    @Test
    void areHandledOneAtATimeInDueOrder() {
        three();

        assertThat(this.dq.claim().ids()).containsExactly("x");
        assertThat(this.dq.claim().ids()).isEmpty();
    }

    @Test
    void goOnWhenTheirHeadIsAcknowledged() {
        three();

        assertThat(drained()).containsExactly("x", "y", "z");
    }

    @Test
    void goByIdWhereTheDueTimeIsTheSame() {
        for (String id : List.of("b", "a-", "B", "a", "a:")) {
            this.dq.send(grouped("g", id, DELAY));
        }
        this.dq.advance(DELAY);

        assertThat(drained()).containsExactly("B", "a", "a-", "a:", "b");
    }

    @Test
    void doNotWaitForEachOther() {
        three();
        this.dq.send(grouped("other", "a", Duration.ZERO));
        this.dq.send(called("none", Duration.ZERO));

        assertThat(this.dq.claim().ids()).containsExactlyInAnyOrder("x", "a", "none");
    }

    @Test
    void areToldApartByTheirWholeName() {
        List<String> names = List.of("g", "g1", "g:", "g-", "G");
        for (String name : names) {
            this.dq.send(grouped(name, name + "1", Duration.ZERO));
            this.dq.send(grouped(name, name + "2", Duration.ofMillis(1)));
        }
        this.dq.advance(DELAY);

        Claimed heads = this.dq.claim();
        assertThat(heads.ids()).containsExactlyInAnyOrder("g1", "g11", "g:1", "g-1", "G1");
        this.dq.acknowledgeAll(heads.leases());
        assertThat(this.dq.claim().ids()).containsExactlyInAnyOrder("g2", "g12", "g:2", "g-2", "G2");
    }

    @Test
    void tellTheirNameToWhoClaimsAndWhoLooks() {
        three();

        assertThat(this.dq.claim().messages()).extracting(Taken::group).containsExactly("g");
        assertThat(this.dq.find("x").orElseThrow().group()).isEqualTo("g");
        assertThat(this.dq.find("y")).contains(follower("y", at(2)));
    }

    @Test
    void letAnEarlierMessagePassAHeadThatWasNotClaimed() {
        three();
        this.dq.send(dueAt("g", "w", at(0)));
        this.dq.send(grouped("h", "b", DELAY));
        this.dq.send(grouped("h", "a", Duration.ofSeconds(5)));

        assertThat(this.dq.find("a").orElseThrow().dueAt()).isEqualTo(at(15));
        this.dq.advance(DELAY);
        assertThat(this.dq.claim().ids()).containsExactly("x", "a");
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
    void keepThePlaceOfARetry() {
        this.dq.send(grouped("g", "x", Duration.ZERO));
        this.dq.send(grouped("g", "y", Duration.ofSeconds(1)));

        assertThat(this.dq.retry(this.dq.claimOne(), DELAY, "failure")).isTrue();
        this.dq.send(grouped("g", "a", Duration.ZERO));

        this.dq.advance(Duration.ofSeconds(5));
        assertThat(this.dq.claim()).isEqualTo(Claimed.nothing(at(10)));
        this.dq.advance(Duration.ofSeconds(5));
        assertThat(drained()).containsExactly("x", "a", "y");
    }

    @Test
    void keepThePlaceOfARetryThatIsRepeated() {
        three();
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.replay(() -> this.dq.retry(lease, DELAY, "failure"))).isTrue();

        assertThat(this.dq.claim().ids()).isEmpty();
        this.dq.advance(DELAY);
        assertThat(drained()).containsExactly("x", "y", "z");
    }

    @Test
    void keepThePlaceOfARelease() {
        three();
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.replay(() -> this.dq.release(lease, DELAY))).isTrue();
        this.dq.send(dueAt("g", "a", at(0)));

        assertThat(this.dq.claim().ids()).isEmpty();
        this.dq.advance(DELAY);
        assertThat(drained()).containsExactly("x", "y", "z", "a");
    }

    @Test
    void keepThePlaceOfALeaseThatRanOut() {
        three();
        Lease stale = this.dq.claimOne();
        this.dq.advance(LEASE);
        this.dq.send(dueAt("g", "a", at(0)));

        Claimed again = this.dq.claim();
        assertThat(again.messages()).extracting(Taken::dueAt).containsExactly(at(1));
        assertThat(again.ids()).containsExactly("x");
        assertThat(this.dq.acknowledge(stale)).isFalse();
        assertThat(this.dq.acknowledgeAll(again.leases())).containsExactly(true);
        assertThat(drained()).containsExactly("y", "z", "a");
    }

    @Test
    void goOnOnceWhenAnAcknowledgementIsRepeated() {
        three();
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.replay(() -> this.dq.acknowledge(lease))).isFalse();

        assertThat(this.dq.claim().ids()).containsExactly("y");
        assertThat(this.dq.claim().ids()).isEmpty();
    }

    @Test
    void goOnWhenTheirHeadDiesAndTakeItBack() {
        three();
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.replay(() -> this.dq.deadLetter(lease))).isTrue();
        assertThat(this.dq.letters()).extracting((letter) -> letter.group() + " " + letter.id() + " " + letter.cause())
            .containsExactly("g x failure");
        assertThat(this.dq.replayStamped(() -> this.dq.redrive(lease))).isEqualTo(RedriveResult.REDRIVEN);

        assertThat(this.dq.find("x")).contains(follower("x", at(10)));
        assertThat(drained()).containsExactly("y", "z", "x");
    }

    @Test
    void goOnWhenTheirHeadIsCancelled() {
        three();

        assertThat(this.dq.cancel("x")).isEqualTo(CancelResult.CANCELLED);

        assertThat(drained()).containsExactly("y", "z");
    }

    @Test
    void goOnWhenAHeadThatWasCancelledWhileLeasedEnds() {
        three();
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.cancel("x")).isEqualTo(CancelResult.LEASED);
        assertThat(this.dq.claim().ids()).isEmpty();
        assertThat(this.dq.retry(lease, DELAY, "failure")).isTrue();

        assertThat(drained()).containsExactly("y", "z");
    }

    @Test
    void goOnWhenTheLeaseOfACancelledHeadRunsOut() {
        three();
        this.dq.claim();
        this.dq.cancel("x");
        this.dq.advance(LEASE);

        assertThat(drained()).containsExactly("y", "z");
    }

    @Test
    void loseAFollowerThatIsCancelled() {
        three();

        assertThat(this.dq.replay(() -> this.dq.cancel("y"))).isEqualTo(CancelResult.NOT_FOUND);

        assertThat(this.dq.find("y")).isEmpty();
        assertThat(drained()).containsExactly("x", "z");
    }

    @Test
    void goOnWhenTheirHeadHasExpired() {
        this.dq.send(message("g", "x", OnDuplicate.KEEP, 9, Duration.ofSeconds(1)));
        this.dq.send(message("g", "y", OnDuplicate.KEEP, 0, null));
        this.dq.advance(DELAY);

        Claimed claim = this.dq.claim();

        assertThat(claim.expired()).isEqualTo(1);
        assertThat(claim.ids()).isEmpty();
        assertThat(claim.nextAt()).isEqualTo(at(0));
        assertThat(this.dq.claim().ids()).containsExactly("y");
    }

    @Test
    void areKeptByALetterOfWhatHasExpired() {
        this.dq.send(message("g", "x", OnDuplicate.KEEP, 9, Duration.ofSeconds(1)));
        this.dq.send(message("g", "y", OnDuplicate.KEEP, 9, Duration.ofSeconds(1)));
        this.dq.advance(DELAY);

        this.dq.claim(1, LEASE, ExpiredPolicy.DEAD_LETTER);
        this.dq.claim(1, LEASE, ExpiredPolicy.DEAD_LETTER);

        assertThat(this.dq.letters()).extracting((letter) -> letter.group() + " " + letter.id() + " " + letter.cause())
            .containsExactlyInAnyOrder("g x expired", "g y expired");
    }

    @Test
    void giveASuccessorThePlaceOfItsDueTime() {
        three();
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.send(grouped("g", "x", Duration.ZERO)).outcome()).isEqualTo(SendOutcome.AFTER_CURRENT);
        assertThat(this.dq.find("x").orElseThrow().state()).isEqualTo(MessageState.LEASED);
        assertThat(this.dq.acknowledge(lease)).isTrue();

        assertThat(this.dq.find("x")).contains(follower("x", at(10)));
        assertThat(drained()).containsExactly("y", "z", "x");
    }

    @Test
    void giveAnEarlierSuccessorTheLead() {
        this.dq.send(grouped("g", "x", Duration.ZERO));
        this.dq.send(grouped("g", "y", DELAY));
        Lease lease = this.dq.claimOne();
        this.dq.send(grouped("g", "x", Duration.ofSeconds(5)));
        this.dq.advance(LEASE);

        assertThat(this.dq.find("x")).contains(follower("x", at(5)));
        assertThat(this.dq.claim().ids()).containsExactly("x");
        assertThat(this.dq.acknowledge(lease)).isFalse();
    }

    @Test
    void keepWhatIsHeldWhateverGroupIsNamed() {
        three();

        assertThat(this.dq.send(grouped("other", "x", Duration.ZERO)).outcome()).isEqualTo(SendOutcome.KEPT);
        assertThat(this.dq.send(grouped("other", "y", Duration.ZERO)))
            .satisfies((result) -> assertThat(result.outcome()).isEqualTo(SendOutcome.KEPT))
            .satisfies((result) -> assertThat(result.dueAt()).isEqualTo(at(2)));
        assertThat(this.dq.send(called("z", Duration.ZERO)).outcome()).isEqualTo(SendOutcome.KEPT);

        assertThat(drained()).containsExactly("x", "y", "z");
    }

    @Test
    void replaceInside() {
        three();

        assertThat(this.dq.send(replacing("g", "x", DELAY)).outcome()).isEqualTo(SendOutcome.REPLACED);
        assertThat(this.dq.replayStamped(() -> this.dq.send(replacing("g", "y", Duration.ofSeconds(5))).outcome()))
            .isEqualTo(SendOutcome.REPLACED);

        this.dq.advance(DELAY);
        assertThat(drained()).containsExactly("z", "y", "x");
    }

    @Test
    void areNotLeftByAReplacement() {
        three();
        this.dq.claim();
        this.dq.send(called("plain", DELAY));

        for (NewMessage message : List.of(replacing("other", "y", Duration.ZERO),
                replacing("other", "x", Duration.ZERO), replacing("g", "plain", Duration.ZERO),
                replacing(null, "z", Duration.ZERO))) {
            assertThatThrownBy(() -> this.dq.sendAll(List.of(grouped("g", "new", Duration.ZERO), message)))
                .hasRootCauseInstanceOf(StoreRefusedException.class)
                .hasStackTraceContaining("Message '" + message.id() + "' of queue 'contract' cannot be replaced");
        }

        assertThat(this.dq.find("new")).isEmpty();
        assertThat(this.dq.statistics().scheduled()).isEqualTo(3);
    }

    @Test
    void areLeftByAReplacementOnceTheLeaseOfAnotherRanOut() {
        this.dq.send(grouped("g", "x", Duration.ZERO));
        this.dq.claim();
        this.dq.send(grouped("h", "x", DELAY));
        this.dq.advance(LEASE);

        assertThatThrownBy(() -> this.dq.send(replacing("g", "x", Duration.ZERO)))
            .hasRootCauseInstanceOf(StoreRefusedException.class);
        assertThat(this.dq.send(replacing("h", "x", Duration.ZERO)).outcome()).isEqualTo(SendOutcome.REPLACED);
    }

    @Test
    void answerARepeatedSendOfAFollowerAsTheFirst() {
        three();

        assertThat(this.dq.replayStamped(() -> this.dq.send(grouped("g", "w", Duration.ZERO))))
            .satisfies((result) -> assertThat(result.outcome()).isEqualTo(SendOutcome.SCHEDULED))
            .satisfies((result) -> assertThat(result.dueAt()).isEqualTo(at(10)));

        assertThat(drained()).containsExactly("x", "y", "z", "w");
    }

    @Test
    void countTheLaneOfTheirHeadOnly() {
        this.dq.send(message("g", "x", OnDuplicate.KEEP, 0, null));
        this.dq.advance(Duration.ofMillis(1));
        this.dq.send(message("g", "y", OnDuplicate.KEEP, 9, null));
        this.dq.send(called("plain", Duration.ZERO));

        assertThat(this.dq.claim(1, LEASE, ExpiredPolicy.DROP).ids()).containsExactly("plain");
        this.dq.acknowledge(this.dq.claimOne());
        this.dq.send(called("another", Duration.ZERO));
        assertThat(this.dq.claim(1, LEASE, ExpiredPolicy.DROP).ids()).containsExactly("y");
    }

    @Test
    void moveAHeadThatIsRescheduledBehindOthers() {
        three();

        assertThat(this.dq.reschedule("x", Duration.ZERO)).isEqualTo(RescheduleResult.RESCHEDULED);

        assertThat(this.dq.find("x")).contains(follower("x", at(10)));
        assertThat(drained()).containsExactly("y", "z", "x");
    }

    @Test
    void moveAFollowerThatIsRescheduledToTheFront() {
        this.dq.send(grouped("g", "x", DELAY));
        this.dq.send(grouped("g", "y", LEASE));

        assertThat(this.dq.reschedule("y", Duration.ofSeconds(5))).isEqualTo(RescheduleResult.RESCHEDULED);

        assertThat(this.dq.claim().nextAt()).isEqualTo(at(5));
        this.dq.advance(DELAY);
        assertThat(drained()).containsExactly("y", "x");
    }

    @Test
    void moveAFollowerAmongItsLike() {
        three();

        assertThat(this.dq.reschedule("y", Duration.ZERO)).isEqualTo(RescheduleResult.RESCHEDULED);

        assertThat(drained()).containsExactly("x", "z", "y");
    }

    @Test
    void areCountedAsScheduledAndDueByTheirHead() {
        three();

        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics("contract", 3, 1, 0, 0, at(1)));
        this.dq.claim();
        assertThat(this.dq.statistics()).isEqualTo(new QueueStatistics("contract", 2, 0, 1, 0, null));
    }

    @Test
    void wakeThoseWhoWaitWhenTheirHeadIsAcknowledged() {
        three();
        Lease lease = this.dq.claimOne();
        try (StoreDriver.Bell bell = this.dq.listen()) {
            this.dq.acknowledge(lease);

            assertThat(bell.rings()).isTrue();
        }
    }

    @Test
    void wakeThoseWhoWaitWhenTheirHeadIsCancelled() {
        this.dq.send(grouped("g", "x", Duration.ZERO));
        this.dq.send(grouped("g", "y", Duration.ZERO));
        this.dq.retry(this.dq.claimOne());
        this.dq.claim();
        try (StoreDriver.Bell bell = this.dq.listen()) {
            this.dq.cancel("x");

            assertThat(bell.rings()).isTrue();
        }
    }

    @Test
    void wakeThoseWhoWaitWhenTheirHeadDies() {
        three();
        Lease lease = this.dq.claimOne();
        this.dq.claim();
        try (StoreDriver.Bell bell = this.dq.listen()) {
            this.dq.deadLetter(lease);

            assertThat(bell.rings()).isTrue();
        }
    }

    @Test
    void wakeThoseWhoWaitWhenTheirHeadIsRescheduled() {
        this.dq.send(grouped("g", "x", Duration.ZERO));
        this.dq.send(grouped("g", "y", Duration.ZERO));
        this.dq.retry(this.dq.claimOne());
        this.dq.claim();
        try (StoreDriver.Bell bell = this.dq.listen()) {
            this.dq.reschedule("x", LEASE);

            assertThat(bell.rings()).isTrue();
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
        assertThat(drained()).hasSize(many - 1).isSorted();
    }

    private void three() {
        this.dq.send(grouped("g", "z", Duration.ofSeconds(3)));
        this.dq.send(grouped("g", "x", Duration.ofSeconds(1)));
        this.dq.send(grouped("g", "y", Duration.ofSeconds(2)));
        this.dq.advance(DELAY);
    }

    /** What is claimed and acknowledged until nothing is due, in that order. */
    private List<String> drained() {
        List<String> ids = new ArrayList<>();
        for (Claimed claim = this.dq.claim(); !claim.ids().isEmpty(); claim = this.dq.claim()) {
            ids.addAll(claim.ids());
            this.dq.acknowledgeAll(claim.leases());
        }
        return ids;
    }

    private static NewMessage grouped(String group, String id, Duration delay) {
        return new NewMessage(id, false, DueTime.after(delay), OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY, null,
                group, envelope(id));
    }

    private static NewMessage dueAt(String group, String id, Instant due) {
        return new NewMessage(id, false, DueTime.at(due), OnDuplicate.KEEP, MessageLimits.NORMAL_PRIORITY, null, group,
                envelope(id));
    }

    private static NewMessage replacing(@Nullable String group, String id, Duration delay) {
        return new NewMessage(id, false, DueTime.after(delay), OnDuplicate.REPLACE, MessageLimits.NORMAL_PRIORITY, null,
                group, envelope(id));
    }

    private static NewMessage message(String group, String id, OnDuplicate onDuplicate, int priority,
            @Nullable Duration timeToLive) {
        return new NewMessage(id, false, DueTime.NOW, onDuplicate, priority, timeToLive, group, envelope(id));
    }

    private static StoredMessage follower(String id, Instant due) {
        return new StoredMessage(QUEUE.queue().value(), id, MessageState.SCHEDULED, due, null, null,
                MessageLimits.NORMAL_PRIORITY, "g", 0, 0, "\"" + id + "\"", Map.of());
    }

}
