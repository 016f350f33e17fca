package io.delayqueue.store.contract.send;

import java.time.Duration;
import java.util.List;

import io.delayqueue.CancelResult;
import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.RedriveResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.ID;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.QUEUE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.envelope;
import static io.delayqueue.fixtures.store.StoreValues.follow;
import static io.delayqueue.fixtures.store.StoreValues.keep;
import static io.delayqueue.fixtures.store.StoreValues.replace;
import static io.delayqueue.fixtures.store.StoreValues.result;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** Cases of messages with a duplicate window, and of sends to their ids. */
public abstract class DuplicateWindowCases extends StoreCases {

    private static final Duration WINDOW = Duration.ofMinutes(5);

    private static final SendResult DEDUPLICATED = new SendResult(QUEUE.queue().value(), ID, null,
            SendOutcome.DEDUPLICATED);

    private final StoreFixture contract;

    public DuplicateWindowCases(StoreFixture contract) {
        super(contract);
        this.contract = contract;
    }

    /** Ends the windows, which outlive messages. */
    @AfterEach
    void endWindows() {
        this.dq.cancel();
        this.dq.cancel("b");
    }

    private static NewMessage once(String content) {
        return keep(content, Duration.ZERO).withDuplicateWindow(WINDOW);
    }

    private static NewMessage once(String id, int priority, @Nullable Duration timeToLive, @Nullable String group) {
        return new NewMessage(id, false, DueTime.NOW, OnDuplicate.KEEP, priority, timeToLive, group, envelope(id))
            .withDuplicateWindow(WINDOW);
    }

    private Lease leased() {
        assertThat(this.dq.send(once("first"))).isEqualTo(result(SendOutcome.SCHEDULED, at(0)));
        return this.dq.claimOne();
    }

    private boolean expire(Lease lease) {
        return this.contract.store().expire(lease).join();
    }

    private void handled() {
        assertThat(this.dq.acknowledge(leased())).isTrue();
    }

    @Test
    void keepsAHeldMessageLikeAnySend() {
        Lease lease = leased();

        assertThat(this.dq.send(once("second")).outcome()).isEqualTo(SendOutcome.KEPT);

        assertThat(this.dq.acknowledge(lease)).isTrue();
    }

    @Test
    void keepsAMessageThatWaits() {
        this.dq.scheduled();
        assertThat(this.dq.send(once("second"))).isEqualTo(result(SendOutcome.KEPT, at(10)));
    }

    @Test
    void keepsAMessageThatIsDue() {
        this.dq.due();
        assertThat(this.dq.send(once("second"))).isEqualTo(result(SendOutcome.KEPT, at(0)));
    }

    @Test
    void keepsAMessageThatIsLeasedByAnother() {
        this.dq.leasedByAnother();
        assertThat(this.dq.send(once("second"))).isEqualTo(result(SendOutcome.KEPT, at(30)));
    }

    @Test
    void endsALeaseThatRanOutAndKeepsItsMessage() {
        this.dq.lapsed();
        assertThat(this.dq.send(once("second"))).isEqualTo(result(SendOutcome.KEPT, at(30)));
    }

    @Test
    void keepsAMessageWhoseLapseWasNoticed() {
        this.dq.noticed();
        assertThat(this.dq.send(once("second"))).isEqualTo(result(SendOutcome.KEPT, at(30)));
    }

    @Test
    void keepsASuccessor() {
        this.dq.withSuccessor();
        assertThat(this.dq.send(once("third"))).isEqualTo(result(SendOutcome.KEPT, at(10)));
    }

    @Test
    void storesAMessageWhoseIdHasADeadLetter() {
        this.dq.dead();
        assertThat(this.dq.send(once("second"))).isEqualTo(result(SendOutcome.SCHEDULED, at(0)));
    }

    @Test
    void answersARepeatedSendAsTheFirst() {
        assertThat(this.dq.replayStamped(() -> this.dq.send(once("first"))))
            .isEqualTo(result(SendOutcome.SCHEDULED, at(0)));
    }

    @Test
    void keepsTheIdOutAfterTheMessageWasHandled() {
        handled();
        this.dq.advance(WINDOW.minusMillis(1));

        assertThat(this.dq.send(once("second"))).isEqualTo(DEDUPLICATED);
        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void admitsTheIdWhenTheWindowHasEnded() {
        handled();
        this.dq.advance(WINDOW);

        assertThat(this.dq.send(once("second")).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    @Test
    void keepsTheIdOutAfterTheMessageWasDeadLettered() {
        Lease lease = leased();
        assertThat(this.dq.deadLetter(lease)).isTrue();

        assertThat(this.dq.send(once("second"))).isEqualTo(DEDUPLICATED);
        assertThat(this.dq.deadLetters()).hasSize(1);
    }

    @Test
    void beginsWithTheEndOfTheHandlingAndNotWithTheSend() {
        Lease lease = leased();
        this.dq.advance(LEASE.minusMillis(1));
        assertThat(this.dq.acknowledge(lease)).isTrue();
        this.dq.advance(WINDOW.minusMillis(1));

        assertThat(this.dq.send(once("second"))).isEqualTo(DEDUPLICATED);
    }

    @Test
    void isKeptByARetryAndALapse() {
        Lease lease = leased();
        assertThat(this.dq.retry(lease, Duration.ZERO, "failure")).isTrue();
        this.dq.claimOne();
        this.dq.advance(LEASE);
        assertThat(this.dq.acknowledge(this.dq.claimOne())).isTrue();

        assertThat(this.dq.send(once("second"))).isEqualTo(DEDUPLICATED);
    }

    @Test
    void isKeptByARescheduledMessage() {
        this.dq.send(keep("first", DELAY).withDuplicateWindow(WINDOW));
        this.dq.reschedule(Duration.ZERO);
        assertThat(this.dq.acknowledge(this.dq.claimOne())).isTrue();

        assertThat(this.dq.send(once("second"))).isEqualTo(DEDUPLICATED);
    }

    @Test
    void concernsMessagesWithAPriorityATimeToLiveAndAGroup() {
        this.dq.send(once(ID, 7, DELAY, "g"));
        assertThat(this.dq.acknowledge(this.dq.claimOne())).isTrue();

        assertThat(this.dq.send(once(ID, 7, DELAY, "g"))).isEqualTo(DEDUPLICATED);
        this.dq.cancel();
    }

    @Test
    void concernsOnlySomeMessagesOfABatch() {
        handled();

        assertThat(this.dq.sendAll(List.of(once("second"), once("b", 4, null, null)))).extracting(SendResult::outcome)
            .containsExactly(SendOutcome.DEDUPLICATED, SendOutcome.SCHEDULED);
    }

    @Test
    void isIndependentOfOthersThatAreAcknowledgedTogether() {
        this.dq.send(once("first"));
        this.dq.send(NewMessage.of("b", DueTime.NOW, envelope("b")));
        List<Lease> leases = this.dq.claim(2, LEASE, ExpiryPolicy.DROP).leases();

        assertThat(this.dq.acknowledgeAll(leases)).containsExactly(true, true);
        assertThat(this.dq.send(once("second"))).isEqualTo(DEDUPLICATED);
        assertThat(this.dq.send(once("b", 4, null, null)).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    @Test
    void isIndependentOfManyOthersThatAreAcknowledgedTogether() {
        this.dq.send(once("first"));
        this.dq.send(NewMessage.of("b", DueTime.NOW, envelope("b")));
        for (int i = 0; i < 20; i++) {
            this.dq.send(NewMessage.of("a" + i, DueTime.NOW, envelope("a")));
        }
        List<Lease> leases = this.dq.claim().leases();

        assertThat(this.dq.acknowledgeAll(leases)).hasSize(22).containsOnly(true);
        assertThat(this.dq.send(once("second"))).isEqualTo(DEDUPLICATED);
        assertThat(this.dq.send(once("b", 4, null, null)).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    @Test
    void isIgnoredByASendWithoutAWindow() {
        handled();
        assertThat(this.dq.send(keep("second", DELAY))).isEqualTo(result(SendOutcome.SCHEDULED, at(10)));
    }

    @Test
    void isIgnoredByAReplacement() {
        handled();
        assertThat(this.dq.send(replace("second", DELAY))).isEqualTo(result(SendOutcome.SCHEDULED, at(10)));
        assertThat(this.dq.find()).contains(waiting("second", at(10)));
    }

    @Test
    void isIgnoredByARedrive() {
        Lease lease = leased();
        this.dq.deadLetter(lease);

        assertThat(this.dq.redrive(lease)).isEqualTo(RedriveResult.REDRIVEN);
        assertThat(this.dq.acknowledge(this.dq.claimOne())).isTrue();
        assertThat(this.dq.send(once("second"))).isEqualTo(DEDUPLICATED);
    }

    @Test
    void isDroppedByAReplacement() {
        this.dq.send(once("first"));
        this.dq.send(replace("second", Duration.ZERO));
        assertThat(this.dq.acknowledge(this.dq.claimOne())).isTrue();

        assertThat(this.dq.send(once("third")).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    @Test
    void beginsThoughASuccessorFollows() {
        Lease lease = leased();
        this.dq.send(follow("second", Duration.ZERO));
        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.send(once("third")).outcome()).isEqualTo(SendOutcome.KEPT);
        assertThat(this.dq.acknowledge(this.dq.claimOne())).isTrue();

        assertThat(this.dq.send(once("third"))).isEqualTo(DEDUPLICATED);
    }

    @Test
    void aMessageThatFollowsACancelledOneHasNone() {
        Lease lease = leased();
        this.dq.cancel();
        assertThat(this.dq.send(once("second")).outcome()).isEqualTo(SendOutcome.AFTER_CURRENT);
        this.dq.acknowledge(lease);
        assertThat(this.dq.acknowledge(this.dq.claimOne())).isTrue();

        assertThat(this.dq.send(once("third")).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    @Test
    void aCancelOfAWaitingMessageFreesTheId() {
        this.dq.send(once("first"));
        assertThat(this.dq.cancel()).isEqualTo(CancelResult.CANCELLED);

        assertThat(this.dq.send(once("second")).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    @Test
    void aCancelOfALeasedMessageFreesTheId() {
        Lease lease = leased();
        assertThat(this.dq.cancel()).isEqualTo(CancelResult.LEASED);
        assertThat(this.dq.acknowledge(lease)).isTrue();

        assertThat(this.dq.send(once("second")).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    @Test
    void aCancelAfterwardsFreesTheId() {
        handled();
        assertThat(this.dq.cancel()).isEqualTo(CancelResult.NOT_FOUND);

        assertThat(this.dq.send(once("second")).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    @Test
    void aPurgeFreesTheId() {
        Lease lease = leased();
        this.dq.deadLetter(lease);
        assertThat(this.dq.purge(lease)).isTrue();

        assertThat(this.dq.send(once("second")).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    /** By default dead letters are removed when they are older than any window. */
    @Test
    void aPurgeLeavesTheWindowOfALaterMessage() {
        this.dq.deadLetter(leased());
        this.dq.advance(Duration.ofDays(29));
        NewMessage later = keep("later", Duration.ZERO).withDuplicateWindow(MessageLimits.MAX_DUPLICATE_WINDOW);
        assertThat(this.dq.send(later).outcome()).isEqualTo(SendOutcome.SCHEDULED);
        assertThat(this.dq.acknowledge(this.dq.claimOne())).isTrue();
        this.dq.advance(Duration.ofDays(1));
        assertThat(this.dq.purgeOlderThan(Duration.ofDays(30))).isOne();

        assertThat(this.dq.send(once("second"))).isEqualTo(DEDUPLICATED);
    }

    @Test
    void aPurgeOfAnAbsentDeadLetterEndsNoWindow() {
        Lease lease = leased();
        this.dq.deadLetter(lease);
        assertThat(this.dq.redrive(lease)).isEqualTo(RedriveResult.REDRIVEN);
        assertThat(this.dq.acknowledge(this.dq.claimOne())).isTrue();
        assertThat(this.dq.purge(lease)).isFalse();

        assertThat(this.dq.send(once("second"))).isEqualTo(DEDUPLICATED);
    }

    @Test
    void aPurgeByAgeFreesTheId() {
        this.dq.deadLetter(leased());
        assertThat(this.dq.purgeOlderThan(Duration.ZERO)).isOne();

        assertThat(this.dq.send(once("second")).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    @Test
    void aMessageThatExpiresBeginsNoneIfItIsDropped() {
        this.dq.send(once(ID, 4, DELAY, null));
        this.dq.advance(DELAY);
        assertThat(this.dq.claim(1, LEASE, ExpiryPolicy.DROP).leases()).isEmpty();

        assertThat(this.dq.send(once("second")).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    @Test
    void aMessageThatExpiresBeginsOneIfItIsDeadLettered() {
        this.dq.send(once(ID, 4, DELAY, null));
        this.dq.send(once("b", 4, DELAY, "g"));
        this.dq.advance(DELAY);
        assertThat(this.dq.claim(1, LEASE, ExpiryPolicy.DEAD_LETTER).leases()).isEmpty();
        assertThat(this.dq.deadLetters()).hasSize(2);

        this.dq.advance(WINDOW.minusMillis(1));
        assertThat(this.dq.send(once("second"))).isEqualTo(DEDUPLICATED);
        assertThat(this.dq.send(once("b", 4, DELAY, "g")).outcome()).isEqualTo(SendOutcome.DEDUPLICATED);
        this.dq.advance(Duration.ofMillis(1));
        assertThat(this.dq.send(once("second")).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    /** As a claim that finds a message expired drops it without a window. */
    @Test
    void aMessageThatExpiresAfterItsClaimBeginsNone() {
        Lease lease = leased();
        assertThat(expire(lease)).isTrue();
        assertThat(expire(lease)).isFalse();

        assertThat(this.dq.find()).isEmpty();
        assertThat(this.dq.send(once("second")).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    /** P5: a lost lease begins nothing. */
    @Test
    void aStaleTokenBeginsNone() {
        Lease lease = leased();
        this.dq.advance(LEASE);
        this.dq.claimOne();

        assertThat(this.dq.acknowledge(lease)).isFalse();
        assertThat(this.dq.deadLetter(lease)).isFalse();
        assertThat(this.dq.cancel()).isEqualTo(CancelResult.LEASED);
    }

    /** P11: a repeated settlement neither ends nor extends the window. */
    @Test
    void aReplayedSettlementLeavesTheWindow() {
        Lease lease = leased();
        this.dq.replay(() -> this.dq.acknowledge(lease));
        this.dq.advance(WINDOW.minusMillis(1));
        assertThat(this.dq.acknowledge(lease)).isFalse();
        assertThat(this.dq.send(once("second"))).isEqualTo(DEDUPLICATED);
        this.dq.advance(Duration.ofMillis(1));

        assertThat(this.dq.send(once("second")).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    @Test
    void aReplayedSendIsAnsweredAsTheFirst() {
        handled();

        assertThat(this.dq.replay(() -> this.dq.send(once("second")))).isEqualTo(DEDUPLICATED);
    }

    @Test
    void aRepeatedDeadLetterCallLeavesOneDeadLetter() {
        Lease lease = leased();

        assertThat(this.dq.replay(() -> this.dq.deadLetter(lease))).isTrue();
        assertThat(this.dq.deadLetters()).hasSize(1);
        assertThat(this.dq.send(once("second"))).isEqualTo(DEDUPLICATED);
    }

}
