package io.delayqueue.store.contract.claim;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.CancelResult;
import io.delayqueue.DelayQueueException;
import io.delayqueue.OnDuplicate;
import io.delayqueue.RedriveResult;
import io.delayqueue.RescheduleResult;
import io.delayqueue.SendOutcome;
import io.delayqueue.SendResult;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.fixtures.store.StoreValues;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.MessageStore;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionLayoutStore;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.StaleLayoutException;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.HOME;
import static io.delayqueue.fixtures.store.StoreValues.ID;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.QUEUE;
import static io.delayqueue.fixtures.store.StoreValues.envelope;
import static io.delayqueue.fixtures.store.StoreValues.follow;
import static io.delayqueue.fixtures.store.StoreValues.keep;
import static io.delayqueue.fixtures.store.StoreValues.replace;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Checks the operations of a partition of a partitioned queue. */
public abstract class PartitionCases extends StoreCases {

    private static final PartitionLayout FOUR = new PartitionLayout(1, List.of(1, 4), true);

    private static final PartitionTarget NOW = new PartitionTarget(QUEUE, 1);

    private final StoreFixture contract;

    public PartitionCases(StoreFixture contract) {
        super(contract);
        this.contract = contract;
    }

    private MessageStore store() {
        return this.contract.store();
    }

    private PartitionLayoutStore records() {
        return this.contract.records();
    }

    private void raise() {
        records().raise(QUEUE, FOUR).join();
    }

    private Optional<PartitionLayout> recorded() {
        return records().read(QUEUE).join();
    }

    private static Throwable failureOf(CompletableFuture<?> answer) {
        return answer.handle((done, failure) -> failure).join();
    }

    private static void assertRefused(CompletableFuture<?> answer) {
        assertThatThrownBy(answer::join).cause().satisfies((failure) -> {
            assertThat(failure).isInstanceOf(StoreUnavailableException.class);
            assertThat(((DelayQueueException) failure).effect()).isEqualTo(DelayQueueException.Effect.NONE);
            assertThat(StaleLayoutException.isCauseOf(failure)).isTrue();
        });
    }

    @Test
    void rejectAnEarlierVersionAndChangeNothing() {
        this.dq.scheduled();
        raise();

        assertRefused(store().schedule(HOME, List.of(StoreValues.called("new", DELAY))));
        assertRefused(store().schedule(HOME, List.of(replace("second", DELAY))));
        assertRefused(store().scheduleIfHeld(HOME, List.of(replace("second", DELAY))));
        assertRefused(store().cancel(HOME, ID));
        assertRefused(store().reschedule(HOME, ID, DueTime.NOW));
        assertThat(StaleLayoutException.recordedIn(failureOf(store().cancel(HOME, ID)))).hasValue(FOUR);
        assertRefused(this.contract.inspector().find(HOME, ID));
        assertThat(this.contract.inspector().find(NOW, ID).join()).hasValueSatisfying((message) -> {
            assertThat(message.payload()).contains("first");
            assertThat(message.dueAt()).isEqualTo(StoreValues.at(10));
        });
        assertThat(this.contract.inspector().find(NOW, "new").join()).isEmpty();
    }

    @Test
    void acceptTheirVersionAndLaterOnes() {
        raise();
        for (int version = 1; version <= 2; version++) {
            PartitionTarget target = new PartitionTarget(QUEUE, version);
            assertThat(store().schedule(target, List.of(keep("first", DELAY))).join().get(0).outcome())
                .isEqualTo(SendOutcome.SCHEDULED);
            assertThat(store().reschedule(target, ID, DueTime.NOW).join()).isEqualTo(RescheduleResult.RESCHEDULED);
            assertThat(this.contract.inspector().find(target, ID).join()).isPresent();
            assertThat(store().cancel(target, ID).join()).isEqualTo(CancelResult.CANCELLED);
        }
    }

    @Test
    void takeMessagesWithNewIdsFromAnybodyAndThoseOfGroupsNot() {
        raise();
        NewMessage unique = new NewMessage("g", true, DueTime.NOW, OnDuplicate.KEEP, 4, null, null, envelope("g"));
        NewMessage urgent = new NewMessage("i", true, DueTime.NOW, OnDuplicate.KEEP, 9, null, null, envelope("i"));
        NewMessage grouped = new NewMessage("h", true, DueTime.NOW, OnDuplicate.KEEP, 4, null, "group", envelope("h"));

        assertThat(store().schedule(HOME, List.of(unique)).join()).hasSize(1);
        assertThat(store().schedule(HOME, List.of(urgent)).join()).hasSize(1);
        assertRefused(store().schedule(HOME, List.of(grouped)));
    }

    @Test
    void answerASendThatIsRepeatedByALaterVersionAsTheFirst() {
        NewMessage message = keep("first", DELAY);
        this.dq.send(message);
        raise();
        assertRefused(store().schedule(HOME, List.of(message)));

        Optional<SendResult> again = this.dq
            .replayStamped(() -> store().scheduleIfHeld(NOW, List.of(message)).join().get(0));

        assertThat(again).map(SendResult::outcome).hasValue(SendOutcome.SCHEDULED);
    }

    @Test
    void leaveOutWhatTheyDoNotHold() {
        this.dq.scheduled();

        List<Optional<SendResult>> results = store()
            .scheduleIfHeld(HOME, List.of(StoreValues.called("other", DELAY), keep("second", Duration.ZERO)))
            .join();

        assertThat(results.get(0)).isEmpty();
        assertThat(results.get(1)).map(SendResult::outcome).hasValue(SendOutcome.KEPT);
        assertThat(this.dq.find("other")).isEmpty();
        assertThat(store().scheduleIfHeld(HOME, List.of(replace("second", DELAY))).join().get(0))
            .map(SendResult::outcome)
            .hasValue(SendOutcome.REPLACED);
    }

    @Test
    void redriveOnlyForTheirVersion() {
        Lease lease = this.dq.dead();
        raise();

        assertRefused(store().redrive(HOME, lease.deadLetterId()));
        assertThat(this.dq.deadLetters()).hasSize(1);
        assertThat(store().redrive(NOW, lease.deadLetterId()).join()).isEqualTo(RedriveResult.REDRIVEN);
    }

    @Test
    void returnTheMessageOfOneDeadLetter() {
        Lease lease = this.dq.dead();
        this.dq.advance(DELAY);
        this.dq.send(keep("second", Duration.ZERO));
        this.dq.deadLetter(this.dq.claimOne());

        assertThat(this.contract.inspector().deadLetteredMessage(QUEUE, lease.deadLetterId()).join())
            .hasValueSatisfying((message) -> assertThat(message.envelope()).isEqualTo(envelope("first")));
        assertThat(this.contract.inspector().deadLetteredMessage(QUEUE, "other~1").join()).isEmpty();
    }

    @Test
    void keepASuccessorOfWhatTheyHaveLeased() {
        this.dq.leased();

        assertThat(store().scheduleIfHeld(HOME, List.of(follow("second", DELAY))).join().get(0))
            .map(SendResult::outcome)
            .hasValue(SendOutcome.AFTER_CURRENT);
    }

    @Test
    void keepWhatTheyHaveLeased() {
        Lease lease = this.dq.leased();

        assertThat(store().scheduleIfHeld(HOME, List.of(keep("second", DELAY))).join().get(0)).map(SendResult::outcome)
            .hasValue(SendOutcome.KEPT);

        assertThat(this.dq.acknowledge(lease)).isTrue();
        assertThat(this.dq.find()).isEmpty();
    }

    @Test
    void leaveNothingBehindOfACancelledLeaseThatTheyEnd() {
        Lease lease = this.dq.cancelled();
        this.dq.advance(LEASE);

        assertThat(store().scheduleIfHeld(HOME, List.of(keep("second", DELAY))).join().get(0)).isEmpty();

        assertThat(this.dq.acknowledge(lease)).isFalse();
    }

    @Test
    void leaveNothingBehindOfAGroupWhoseCancelledLeaseTheyEnd() {
        this.dq.send(inGroup("first"));
        this.dq.claimOne();
        this.dq.cancel("first");
        this.dq.advance(LEASE);

        assertThat(store().scheduleIfHeld(HOME, List.of(inGroup("first"))).join().get(0)).isEmpty();
    }

    @Test
    void keepGroupsTogetherUntilTheyAreEmpty() {
        NewMessage first = inGroup("first");
        NewMessage second = inGroup("second");
        assertThat(store().scheduleIfHeld(HOME, List.of(first)).join().get(0)).isEmpty();
        this.dq.send(first);

        assertThat(store().scheduleIfHeld(HOME, List.of(second)).join().get(0)).map(SendResult::outcome)
            .hasValue(SendOutcome.SCHEDULED);
        Lease lease = this.dq.claimOne();
        assertThat(store().scheduleIfHeld(HOME, List.of(inGroup("third"))).join().get(0)).isPresent();
        this.dq.acknowledge(lease);
        this.dq.acknowledge(this.dq.claimOne());
        this.dq.acknowledge(this.dq.claimOne());
        assertThat(store().scheduleIfHeld(HOME, List.of(inGroup("fourth"))).join().get(0)).isEmpty();
    }

    private static NewMessage inGroup(String id) {
        return new NewMessage(id, false, DueTime.NOW, OnDuplicate.KEEP, 4, null, "group", envelope(id));
    }

    @Test
    void returnTheirVersionWithAClaim() {
        ClaimRequest request = new ClaimRequest(1, LEASE, ExpiryPolicy.DROP);
        assertThat(store().claim(QUEUE, request).join().partitionsVersion()).isZero();
        raise();

        assertThat(store().claim(QUEUE, request).join().partitionsVersion()).isOne();
        this.dq.send(new NewMessage(ID, true, DueTime.NOW, OnDuplicate.KEEP, 4, null, null, envelope("first")));
        ClaimResult full = store().claim(QUEUE, request).join();
        assertThat(full.messages()).hasSize(1);
        assertThat(full.partitionsVersion()).isOne();
    }

    @Test
    void areFoundedWithOneBeforeThemOnlyIfThatHoldsMessages() {
        assertThat(recorded()).isEmpty();

        assertThat(records().establish(QUEUE.queue(), 4).join()).isEqualTo(new PartitionLayout(1, List.of(4), false));
        assertThat(records().establish(QUEUE.queue(), 8).join()).isEqualTo(new PartitionLayout(1, List.of(4), false));
        assertThat(recorded()).hasValue(new PartitionLayout(1, List.of(4), false));
    }

    @Test
    void areCreatedAfterOneThatHoldsMessages() {
        this.dq.scheduled();

        assertThat(records().establish(QUEUE.queue(), 4).join())
            .isEqualTo(new PartitionLayout(1, List.of(1, 4), false));
    }

    @Test
    void areCreatedAfterOneThatHoldsDeadLetters() {
        this.dq.dead();

        assertThat(records().establish(QUEUE.queue(), 4).join())
            .isEqualTo(new PartitionLayout(1, List.of(1, 4), false));
    }

    /** A send to an id in its window has to ask the former partition. */
    @Test
    void areCreatedAfterOneWhoseDuplicateWindowsRun() {
        this.dq.send(keep("first", Duration.ZERO).withDuplicateWindow(Duration.ofMinutes(5)));
        assertThat(this.dq.acknowledge(this.dq.claimOne())).isTrue();

        assertThat(records().establish(QUEUE.queue(), 4).join())
            .isEqualTo(new PartitionLayout(1, List.of(1, 4), false));

        // Ends the window, which outlives the message.
        assertThat(store().cancel(NOW, ID).join()).isEqualTo(CancelResult.NOT_FOUND);
    }

    @Test
    void areReplacedOnlyWithTheirVersion() {
        PartitionLayout next = FOUR.next(8);
        assertThat(records().replace(QUEUE.queue(), Optional.of(FOUR), next).join()).isEqualTo(PartitionLayout.ONE);
        assertThat(records().replace(QUEUE.queue(), Optional.empty(), FOUR).join()).isEqualTo(FOUR);
        assertThat(records().replace(QUEUE.queue(), Optional.empty(), next).join()).isEqualTo(FOUR);
        assertThat(records().replace(QUEUE.queue(), Optional.of(FOUR), next).join()).isEqualTo(next);
        assertThat(recorded()).hasValue(next);
    }

    @Test
    void areRaisedAndNeverLowered() {
        PartitionLayout next = FOUR.next(8).completed();
        records().raise(QUEUE, next).join();
        raise();

        assertThat(recorded()).hasValue(next);
    }

}
