package io.delayqueue.store.contract.claim;

import java.time.Duration;
import java.util.List;

import io.delayqueue.CancelResult;
import io.delayqueue.DeadLetter;
import io.delayqueue.MessageState;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoredMessage;
import io.delayqueue.fixtures.store.ClaimedMessageValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.GroupValues.follower;
import static io.delayqueue.fixtures.store.GroupValues.following;
import static io.delayqueue.fixtures.store.GroupValues.grouped;
import static io.delayqueue.fixtures.store.GroupValues.replacing;
import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.called;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Groups, as those see them who send, cancel, move or look at one of their messages by
 * its id. There are three messages as in {@link GroupCases}.
 */
public abstract class GroupMemberCases extends StoreCases {

    public GroupMemberCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void keepAHeldMessageForAnyGroup() {
        this.dq.threeOfAGroup();

        assertThat(this.dq.send(grouped("other", "x", Duration.ZERO)).outcome()).isEqualTo(SendOutcome.KEPT);
        assertThat(this.dq.send(grouped("other", "y", Duration.ZERO)))
            .satisfies((result) -> assertThat(result.outcome()).isEqualTo(SendOutcome.KEPT))
            .satisfies((result) -> assertThat(result.dueAt()).isEqualTo(at(2)));
        assertThat(this.dq.send(called("z", Duration.ZERO)).outcome()).isEqualTo(SendOutcome.KEPT);

        assertThat(this.dq.drained()).containsExactly("x", "y", "z");
    }

    @Test
    void areNotFollowedByWhatIsOfAnotherGroup() {
        this.dq.threeOfAGroup();
        Lease lease = this.dq.claimOne();
        this.dq.send(called("plain", Duration.ZERO));

        for (NewMessage message : List.of(following("other", "x", Duration.ZERO),
                following(null, "x", Duration.ZERO))) {
            assertThatThrownBy(() -> this.dq.sendAll(List.of(grouped("g", "new", Duration.ZERO), message)))
                .hasRootCauseInstanceOf(StoreRefusedException.class)
                .hasStackTraceContaining("Message 'x' of queue 'contract' cannot be replaced or followed");
        }

        assertThat(this.dq.find("new")).isEmpty();
        assertThat(this.dq.send(following("g", "x", DELAY)).outcome()).isEqualTo(SendOutcome.AFTER_CURRENT);
        assertThat(this.dq.send(following("other", "x", Duration.ZERO)).outcome()).isEqualTo(SendOutcome.KEPT);
        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find("x")).map(StoredMessage::group).hasValue("g");
    }

    @Test
    void keepALeasedMessageForAnyGroup() {
        this.dq.threeOfAGroup();
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.send(grouped("other", "x", DELAY)))
            .satisfies((result) -> assertThat(result.outcome()).isEqualTo(SendOutcome.KEPT))
            .satisfies((result) -> assertThat(result.dueAt()).isEqualTo(at(1)));
        assertThat(this.dq.send(called("x", DELAY)).outcome()).isEqualTo(SendOutcome.KEPT);

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.drained()).containsExactly("y", "z");
    }

    @Test
    void rejectAKeptSuccessorOfAnotherGroupOnceTheyAreCancelled() {
        this.dq.threeOfAGroup();
        Lease lease = this.dq.claimOne();
        this.dq.cancel("x");

        for (NewMessage message : List.of(grouped("other", "x", Duration.ZERO), called("x", Duration.ZERO))) {
            assertThatThrownBy(() -> this.dq.sendAll(List.of(grouped("g", "new", Duration.ZERO), message)))
                .hasRootCauseInstanceOf(StoreRefusedException.class)
                .hasStackTraceContaining("Message 'x' of queue 'contract' cannot be replaced or followed");
        }

        assertThat(this.dq.find("new")).isEmpty();
        assertThat(this.dq.send(grouped("g", "x", DELAY)).outcome()).isEqualTo(SendOutcome.AFTER_CURRENT);
        assertThat(this.dq.send(grouped("other", "x", Duration.ZERO)).outcome()).isEqualTo(SendOutcome.KEPT);
        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find("x")).map(StoredMessage::group).hasValue("g");
    }

    @Test
    void replaceInside() {
        this.dq.threeOfAGroup();

        assertThat(this.dq.send(replacing("g", "x", DELAY)).outcome()).isEqualTo(SendOutcome.REPLACED);
        assertThat(this.dq.send(replacing("g", "y", Duration.ofSeconds(5))).outcome()).isEqualTo(SendOutcome.REPLACED);

        this.dq.advance(DELAY);
        assertThat(this.dq.drained()).containsExactly("z", "y", "x");
    }

    @Test
    void areNotLeftByAReplacement() {
        this.dq.threeOfAGroup();
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
    void areNotEnteredByAReplacement() {
        this.dq.send(called("plain", DELAY));

        assertThatThrownBy(() -> this.dq.send(replacing("g", "plain", Duration.ZERO)))
            .hasRootCauseInstanceOf(StoreRefusedException.class);

        assertThat(this.dq.find("plain").orElseThrow().dueAt()).isEqualTo(at(10));
    }

    @Test
    void areLeftOnceTheLeaseOfACancelledMessageRanOut() {
        this.dq.send(grouped("g", "x", Duration.ZERO));
        this.dq.claim();
        this.dq.cancel("x");

        assertThatThrownBy(() -> this.dq.send(replacing("h", "x", Duration.ZERO)))
            .hasRootCauseInstanceOf(StoreRefusedException.class);
        this.dq.advance(LEASE);
        assertThat(this.dq.send(replacing("h", "x", Duration.ZERO)).outcome()).isEqualTo(SendOutcome.SCHEDULED);
    }

    @Test
    void answerARepeatedReplacementAsTheFirst() {
        this.dq.threeOfAGroup();

        assertThat(this.dq.replayStamped(() -> this.dq.send(replacing("g", "x", DELAY)).outcome()))
            .isEqualTo(SendOutcome.REPLACED);
        assertThat(this.dq.replayStamped(() -> this.dq.send(replacing("g", "y", DELAY)).outcome()))
            .isEqualTo(SendOutcome.REPLACED);

        this.dq.advance(DELAY);
        assertThat(this.dq.drained()).containsExactly("z", "x", "y");
    }

    @Test
    void leaveTheDeadLetterWhileTheirIdIsLeasedInAnotherGroup() {
        this.dq.send(grouped("g", "x", Duration.ZERO));
        Lease dead = this.dq.claimOne();
        this.dq.deadLetter(dead);
        this.dq.send(grouped("other", "x", Duration.ZERO));
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.ID_IN_USE);

        assertThat(this.dq.deadLetters()).extracting(DeadLetter::id).containsExactly(dead.deadLetterId());
        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.redrive(dead)).isEqualTo(RedriveResult.REDRIVEN);
        assertThat(this.dq.find("x")).map(StoredMessage::group).hasValue("g");
    }

    @Test
    void answerARepeatedRedriveAsTheFirst() {
        this.dq.threeOfAGroup();
        Lease lease = this.dq.claimOne();
        this.dq.deadLetter(lease);

        assertThat(this.dq.replayStamped(() -> this.dq.redrive(lease))).isEqualTo(RedriveResult.REDRIVEN);

        assertThat(this.dq.drained()).containsExactly("y", "z", "x");
    }

    @Test
    void answerARepeatedSendOfAWaitingMessageAsTheFirst() {
        this.dq.threeOfAGroup();

        assertThat(this.dq.replayStamped(() -> this.dq.send(grouped("g", "w", Duration.ZERO))))
            .satisfies((result) -> assertThat(result.outcome()).isEqualTo(SendOutcome.SCHEDULED))
            .satisfies((result) -> assertThat(result.dueAt()).isEqualTo(at(10)));

        assertThat(this.dq.drained()).containsExactly("x", "y", "z", "w");
    }

    @Test
    void moveAHeadThatIsRescheduledBehindOthers() {
        this.dq.threeOfAGroup();

        assertThat(this.dq.reschedule("x", Duration.ZERO)).isEqualTo(RescheduleResult.RESCHEDULED);

        assertThat(this.dq.find("x")).contains(follower("x", at(10)));
        assertThat(this.dq.drained()).containsExactly("y", "z", "x");
    }

    @Test
    void moveARescheduledMessageToTheFront() {
        this.dq.send(grouped("g", "x", DELAY));
        this.dq.send(grouped("g", "y", LEASE));

        assertThat(this.dq.reschedule("y", Duration.ofSeconds(5))).isEqualTo(RescheduleResult.RESCHEDULED);

        assertThat(this.dq.claim().nextAt()).isEqualTo(at(5));
        this.dq.advance(DELAY);
        assertThat(this.dq.drained()).containsExactly("y", "x");
    }

    @Test
    void orderARescheduledRetryByItsNewDueTime() {
        this.dq.send(grouped("g", "x", Duration.ZERO));
        this.dq.retry(this.dq.claimOne());

        assertThat(this.dq.reschedule("x", LEASE)).isEqualTo(RescheduleResult.RESCHEDULED);
        this.dq.send(grouped("g", "y", DELAY));

        this.dq.advance(LEASE);
        assertThat(this.dq.drained()).containsExactly("y", "x");
    }

    @Test
    void moveARescheduledMessageAmongTheWaitingOnes() {
        this.dq.threeOfAGroup();

        assertThat(this.dq.reschedule("y", Duration.ZERO)).isEqualTo(RescheduleResult.RESCHEDULED);

        assertThat(this.dq.drained()).containsExactly("x", "z", "y");
    }

    @Test
    void loseAWaitingMessageThatIsCancelled() {
        this.dq.threeOfAGroup();

        assertThat(this.dq.replay(() -> this.dq.cancel("y"))).isEqualTo(CancelResult.NOT_FOUND);

        assertThat(this.dq.find("y")).isEmpty();
        assertThat(this.dq.drained()).containsExactly("x", "z");
    }

    @Test
    void orderASuccessorByItsDueTime() {
        this.dq.threeOfAGroup();
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.send(following("g", "x", Duration.ZERO)).outcome()).isEqualTo(SendOutcome.AFTER_CURRENT);
        assertThat(this.dq.find("x").orElseThrow().state()).isEqualTo(MessageState.LEASED);
        assertThat(this.dq.acknowledge(lease)).isTrue();

        assertThat(this.dq.find("x")).contains(follower("x", at(10)));
        assertThat(this.dq.drained()).containsExactly("y", "z", "x");
    }

    @Test
    void giveAnEarlierSuccessorTheLead() {
        this.dq.send(grouped("g", "x", Duration.ZERO));
        this.dq.send(grouped("g", "y", DELAY));
        Lease lease = this.dq.claimOne();
        this.dq.send(following("g", "x", Duration.ofSeconds(5)));
        this.dq.advance(LEASE);

        assertThat(this.dq.find("x")).contains(follower("x", at(5)));
        assertThat(this.dq.claim().ids()).containsExactly("x");
        assertThat(this.dq.acknowledge(lease)).isFalse();
    }

    @Test
    void goOnWhenTheirHeadIsCancelled() {
        this.dq.threeOfAGroup();

        assertThat(this.dq.cancel("x")).isEqualTo(CancelResult.CANCELLED);

        assertThat(this.dq.drained()).containsExactly("y", "z");
    }

    @Test
    void goOnWhenAHeadThatWasCancelledWhileLeasedEnds() {
        this.dq.threeOfAGroup();
        Lease lease = this.dq.claimOne();

        assertThat(this.dq.cancel("x")).isEqualTo(CancelResult.LEASED);
        assertThat(this.dq.claim().ids()).isEmpty();
        assertThat(this.dq.retry(lease, DELAY, "failure")).isTrue();

        assertThat(this.dq.drained()).containsExactly("y", "z");
    }

    @Test
    void goOnWhenTheLeaseOfACancelledHeadRunsOut() {
        this.dq.threeOfAGroup();
        this.dq.claim();
        this.dq.cancel("x");
        this.dq.advance(LEASE);

        assertThat(this.dq.drained()).containsExactly("y", "z");
    }

    @Test
    void areNamedInClaimsAndReads() {
        this.dq.threeOfAGroup();

        assertThat(this.dq.claim().messages()).extracting(ClaimedMessageValues::group).containsExactly("g");
        assertThat(this.dq.find("x").orElseThrow().group()).isEqualTo("g");
        assertThat(this.dq.find("y")).contains(follower("y", at(2)));
    }

}
