package io.delayqueue.store.contract.settle;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException;
import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.EndedMessage;
import io.delayqueue.store.EndedMessages;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.ID;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.expiring;
import static io.delayqueue.fixtures.store.StoreValues.follow;
import static io.delayqueue.fixtures.store.StoreValues.held;
import static io.delayqueue.fixtures.store.StoreValues.keep;
import static io.delayqueue.fixtures.store.StoreValues.replace;
import static io.delayqueue.fixtures.store.StoreValues.waiting;
import static org.assertj.core.api.Assertions.assertThat;

/** Messages that have a row in a journal: their ends, and offers of the rows. */
public abstract class JournalCases extends StoreCases {

    private static final String JOURNAL = "journal-1";

    private static final EndedMessage FIRST = new EndedMessage(7, ID);

    private static final EndedMessage SECOND = new EndedMessage(8, ID);

    public JournalCases(StoreFixture contract) {
        super(contract);
    }

    @Test
    void anAcknowledgedMessageHasEnded() {
        Lease lease = leasedOfJournal();
        assertThat(ended()).isEmpty();

        assertThat(this.dq.acknowledge(lease)).isTrue();

        assertThat(ended()).containsExactly(FIRST);
        forget(FIRST);
    }

    @Test
    void aCancelledMessageHasEnded() {
        this.dq.offer(keep("first", DELAY), 7);

        assertThat(this.dq.cancel(8)).isEqualTo(CancelResult.CANCELLED);

        assertThat(ended()).containsExactly(FIRST);
        forget(FIRST);
    }

    @Test
    void anExpiredMessageHasEnded() {
        this.dq.offer(expiring(ID, Duration.ofSeconds(1)), 7);
        this.dq.advance(DELAY);

        this.dq.claim(1, LEASE, ExpiryPolicy.DEAD_LETTER);

        assertThat(ended()).containsExactly(FIRST);
        forget(FIRST);
    }

    @Test
    void aDeadLetteredMessageHasEnded() {
        Lease lease = leasedOfJournal();

        this.dq.deadLetter(lease);

        assertThat(ended()).containsExactly(FIRST);
        forget(FIRST);
    }

    @Test
    void aReplacedMessageHasEnded() {
        this.dq.offer(keep("first", DELAY), 7);

        assertThat(this.dq.offer(replace("second", DELAY), 8).outcome()).isEqualTo(SendOutcome.REPLACED);

        assertThat(ended()).containsExactly(FIRST);
        this.dq.cancel();
        forget(FIRST);
        forget(SECOND);
    }

    @Test
    void aMessageEndsWhenItsSuccessorBegins() {
        Lease lease = leasedOfJournal();
        this.dq.offer(follow("second", Duration.ZERO), 8);
        assertThat(ended()).isEmpty();

        this.dq.acknowledge(lease);
        assertThat(ended()).containsExactly(FIRST);
        this.dq.acknowledge(this.dq.claimOne());

        assertThat(ended()).containsExactly(SECOND);
        forget(FIRST);
        forget(SECOND);
    }

    @Test
    void aReplacedSuccessorHasEnded() {
        Lease lease = leasedOfJournal();
        this.dq.offer(follow("second", DELAY), 8);

        this.dq.offer(replace("third", DELAY), 9);

        assertThat(ended()).containsExactly(SECOND);
        this.dq.cancel();
        this.dq.acknowledge(lease);
        forget(SECOND);
        forget(FIRST);
        forget(new EndedMessage(9, ID));
    }

    @Test
    void aCancelledSuccessorHasEnded() {
        Lease lease = leasedOfJournal();
        this.dq.offer(follow("second", DELAY), 8);

        assertThat(this.dq.cancel(9)).isEqualTo(CancelResult.LEASED);

        assertThat(ended()).containsExactly(SECOND);
        this.dq.acknowledge(lease);
        forget(SECOND);
        forget(FIRST);
    }

    @Test
    void aRetriedMessageHasNotEnded() {
        Lease lease = leasedOfJournal();

        this.dq.retry(lease);

        assertThat(ended()).isEmpty();
        this.dq.cancel();
        forget(FIRST);
    }

    @Test
    void aMessageThatHasEndedIsNotStoredAgain() {
        this.dq.acknowledge(leasedOfJournal());

        assertThat(this.dq.offer(keep("first", DELAY), 7).outcome()).isEqualTo(SendOutcome.KEPT);

        assertThat(this.dq.find()).isEmpty();
        assertThat(ended()).containsExactly(FIRST);
        forget(FIRST);
    }

    @Test
    void aMessageIsRememberedForAWhileAfterItsRowWasDeleted() {
        this.dq.acknowledge(leasedOfJournal());
        ended();

        this.dq.ended(JOURNAL, FIRST);
        assertThat(this.dq.offer(keep("first", DELAY), 7).outcome()).isEqualTo(SendOutcome.KEPT);
        this.dq.advance(DELAY.plusSeconds(1));
        assertThat(ended()).isEmpty();

        assertThat(this.dq.offer(keep("first", DELAY), 7).outcome()).isEqualTo(SendOutcome.SCHEDULED);
        this.dq.cancel();
        forget(FIRST);
    }

    @Test
    void aLaterRevisionIsStoredAfterTheEnd() {
        this.dq.acknowledge(leasedOfJournal());

        assertThat(this.dq.offer(keep("second", DELAY), 8).outcome()).isEqualTo(SendOutcome.SCHEDULED);

        this.dq.cancel();
        forget(FIRST);
        forget(SECOND);
    }

    @Test
    void anOfferFindsItsRevisionWaitingAndLeasedAndAsASuccessor() {
        this.dq.offer(keep("first", Duration.ZERO), 7);
        assertThat(this.dq.offer(replace("first", DELAY), 7).outcome()).isEqualTo(SendOutcome.RECORDED);
        Lease lease = this.dq.claimOne();
        assertThat(this.dq.offer(replace("first", DELAY), 7).outcome()).isEqualTo(SendOutcome.RECORDED);
        this.dq.offer(follow("second", DELAY), 8);
        assertThat(this.dq.offer(replace("second", DELAY), 8).outcome()).isEqualTo(SendOutcome.RECORDED);

        assertThat(this.dq.find()).contains(held("first", at(30)));
        this.dq.acknowledge(lease);
        this.dq.cancel();
        forget(FIRST);
        forget(SECOND);
    }

    @Test
    void anEarlierRevisionDoesNotReplaceALaterOne() {
        this.dq.offer(keep("second", DELAY), 8);

        assertThat(this.dq.offer(replace("first", DELAY), 7).outcome()).isEqualTo(SendOutcome.KEPT);
        assertThat(this.dq.cancel(7)).isEqualTo(CancelResult.NOT_FOUND);
        assertThat(this.dq.rescheduling(7, LEASE)).succeedsWithin(LEASE).isEqualTo(RescheduleResult.NOT_FOUND);

        assertThat(this.dq.find()).contains(waiting("second", at(10)));
        this.dq.cancel();
        forget(SECOND);
    }

    /** P1, P6: a call that was held up changes nothing. */
    @Test
    void anOfferAfterItsDeadlineIsRejected() {
        this.dq.offer(keep("first", DELAY), 7);
        Duration past = Duration.ofMillis(-1);

        for (CompletableFuture<?> late : List.of(this.dq.offering(replace("second", LEASE), 8, past),
                this.dq.cancelling(8, past), this.dq.rescheduling(8, past))) {
            assertThat(late).failsWithin(LEASE)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(DelayQueueException.class,
                        (failure) -> assertThat(failure.effect()).isEqualTo(Effect.NONE));
        }

        assertThat(this.dq.find()).contains(waiting("first", at(10)));
        this.dq.cancel();
        forget(FIRST);
    }

    @Test
    void anEndedMessageIsReturnedToOneCallerAtATime() {
        this.dq.acknowledge(leasedOfJournal());

        assertThat(this.dq.ended(JOURNAL).messages()).containsExactly(FIRST);
        assertThat(this.dq.ended(JOURNAL).messages()).isEmpty();
        this.dq.advance(LEASE.plusSeconds(1));

        assertThat(this.dq.ended(JOURNAL).messages()).containsExactly(FIRST);
        forget(FIRST);
    }

    @Test
    void callsAreCountedAndAnotherJournalIsRejected() {
        this.dq.acknowledge(leasedOfJournal());
        long count = this.dq.ended(JOURNAL).count();
        this.dq.advance(LEASE.plusSeconds(1));

        EndedMessages other = this.dq.ended("journal-2", FIRST);

        assertThat(other.journal()).isEqualTo(JOURNAL);
        assertThat(other.messages()).isEmpty();
        assertThat(this.dq.ended(JOURNAL)).isEqualTo(new EndedMessages(JOURNAL, count + 1, 1, List.of(FIRST)));
        forget(FIRST);
    }

    private Lease leasedOfJournal() {
        this.dq.offer(keep("first", Duration.ZERO), 7);
        return this.dq.claimOne();
    }

    /** Returns all messages that have ended, in this call or before. */
    private List<EndedMessage> ended() {
        List<EndedMessage> all = new ArrayList<>();
        for (List<EndedMessage> page = this.dq.ended(JOURNAL).messages(); !page.isEmpty(); page = this.dq.ended(JOURNAL)
            .messages()) {
            all.addAll(page);
        }
        return all;
    }

    private void forget(EndedMessage message) {
        this.dq.ended(JOURNAL, message);
        this.dq.advance(DELAY.plusSeconds(1));
        this.dq.ended(JOURNAL);
    }

}
