package io.delayqueue.store.contract.inspect;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.delayqueue.MessageState;
import io.delayqueue.MessageSummary;
import io.delayqueue.admin.DeadLetterSummary;
import io.delayqueue.admin.MessageScanPage;
import io.delayqueue.admin.ScanSelection;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.DeadLetterSummaryPage;
import io.delayqueue.store.DeadLetterRequest;
import io.delayqueue.store.DueCounts;
import io.delayqueue.store.Lease;
import io.delayqueue.store.LocatedId;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.RetryingStep;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static io.delayqueue.fixtures.store.GroupValues.grouped;
import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.ID;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.QUEUE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.called;
import static io.delayqueue.fixtures.store.StoreValues.inLane;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

/** Walks through messages and dead letters, step by step. */
public abstract class ScanCases extends StoreCases {

    private final StoreFixture contract;

    public ScanCases(StoreFixture contract) {
        super(contract);
        this.contract = contract;
    }

    private QueueInspector inspector() {
        return this.contract.queueInspector();
    }

    private Found scan(ScanSelection selection, String prefix) {
        Found found = new Found(new ArrayList<>(), new ArrayList<>());
        String cursor = null;
        do {
            MessageScanPage page = inspector().scan(QUEUE, selection, prefix, cursor).join();
            found.messages().addAll(page.messages());
            found.deadLetters().addAll(page.deadLetters());
            cursor = page.nextCursor();
            assertThat(found.messages()).hasSizeLessThan(5_000); // or it goes round and
                                                                 // round
        }
        while (cursor != null);
        return found;
    }

    /** Holds the findings of all steps. */
    private record Found(List<MessageSummary> messages, List<DeadLetterSummary> deadLetters) {

        List<String> ids() {
            return this.messages.stream().map(MessageSummary::id).distinct().sorted().toList();
        }

    }

    @ParameterizedTest
    @EnumSource
    void findsNothingInAnEmptyQueue(ScanSelection selection) {
        assertThat(scan(selection, "")).isEqualTo(new Found(List.of(), List.of()));
    }

    /** A message in each place. */
    private Lease fill() {
        this.dq.send(called("order-dead", Duration.ZERO));
        Lease dead = this.dq.claimOne();
        this.dq.deadLetter(dead, new DeadLetterRequest("failure", true, at(0)));
        this.dq.send(called("order-leased", Duration.ZERO));
        this.dq.claimOne();
        this.dq.send(called("order-waiting", DELAY));
        this.dq.send(inLane(9, "order-first", DELAY));
        this.dq.send(called("order-due", Duration.ZERO));
        this.dq.send(grouped("g", "order-head", DELAY));
        this.dq.send(grouped("g", "order-follower", LEASE));
        this.dq.send(called("other", DELAY));
        return dead;
    }

    @Test
    void findsMessagesOfEachPlaceByTheBeginningOfTheirIds() {
        Lease dead = fill();

        assertThat(scan(ScanSelection.SCHEDULED, "order-").ids()).containsExactly("order-due", "order-first",
                "order-head", "order-waiting");
        assertThat(scan(ScanSelection.DUE, "order-").ids()).containsExactly("order-due");
        assertThat(scan(ScanSelection.LEASED, "order-").ids()).containsExactly("order-leased");
        assertThat(scan(ScanSelection.WAITING_IN_GROUP, "order-").ids()).containsExactly("order-follower");
        assertThat(scan(ScanSelection.DEAD, "order-")).isEqualTo(new Found(List.of(),
                List.of(new DeadLetterSummary(QUEUE.queue().value(), dead.deadLetterId(), "order-dead", at(0)))));
        Found all = scan(ScanSelection.ALL, "order-");
        assertThat(all.ids()).containsExactly("order-due", "order-first", "order-follower", "order-head",
                "order-leased", "order-waiting");
        assertThat(all.deadLetters()).hasSize(1);
        assertThat(scan(ScanSelection.ALL, "g").ids()).isEmpty();
    }

    @Test
    void describesWhatItFindsAsTheListsDo() {
        fill();

        assertThat(scan(ScanSelection.ALL, "order-first").messages()).containsExactly(new MessageSummary(
                QUEUE.queue().value(), "order-first", MessageState.SCHEDULED, at(10), null, null, 9, null, 0, 0, null));
        assertThat(scan(ScanSelection.ALL, "order-leased").messages()).extracting(MessageSummary::leasedUntil)
            .containsExactly(at(30));
        assertThat(scan(ScanSelection.ALL, "order-follower").messages()).extracting(MessageSummary::dueAt)
            .containsExactly(at(30));
    }

    @Test
    void comparesCharactersThatAreSpecialElsewhere() {
        for (String id : List.of("a*b", "a?b", "a[1]", "axb", "a\\*")) {
            this.dq.send(called(id, DELAY));
        }

        assertThat(scan(ScanSelection.ALL, "a*").ids()).containsExactly("a*b");
        assertThat(scan(ScanSelection.ALL, "a?").ids()).containsExactly("a?b");
        assertThat(scan(ScanSelection.ALL, "a[").ids()).containsExactly("a[1]");
        assertThat(scan(ScanSelection.ALL, "a\\").ids()).containsExactly("a\\*");
        assertThat(scan(ScanSelection.ALL, "a").ids()).hasSize(5);
    }

    @Test
    void findsEachOfManyMessages() {
        for (int from = 0; from < 2_000; from += 100) {
            this.dq.sendAll(IntStream.range(from, from + 100)
                .mapToObj((i) -> (i % 2 == 0) ? called("even-" + i, DELAY) : inLane(i % 10, "odd-" + i, DELAY))
                .toList());
        }

        assertThat(scan(ScanSelection.SCHEDULED, "even-").ids()).hasSize(1_000);
        assertThat(scan(ScanSelection.ALL, "odd-").ids()).hasSize(1_000);
    }

    @Test
    void findsAndCountsRetriedMessages() {
        this.dq.release(this.dq.leased(), DELAY);
        assertThat(scan(ScanSelection.RETRYING, "").ids()).isEmpty();
        this.dq.send(called("failed", Duration.ZERO));
        this.dq.retry(this.dq.claimOne(), LEASE, "boom");
        this.dq.send(called("again", Duration.ZERO));
        this.dq.retry(this.dq.claimOne(), Duration.ZERO, "bang");
        this.dq.claimOne();

        assertThat(scan(ScanSelection.RETRYING, "").ids()).containsExactly("again", "failed");
        assertThat(scan(ScanSelection.RETRYING, "f").messages())
            .extracting(MessageSummary::dueAt, MessageSummary::failures)
            .containsExactly(tuple(at(30), 1));
        assertThat(scan(ScanSelection.RETRYING, "a").messages()).extracting(MessageSummary::state)
            .containsExactly(MessageState.LEASED);
        assertThat(retrying()).isEqualTo(2);
    }

    /** The head of a group that is moved behind another message of it. */
    @Test
    void findsAndCountsRetriedMessagesThatWaitInTheirGroup() {
        this.dq.send(grouped("g", "x", Duration.ZERO));
        this.dq.send(grouped("g", "y", DELAY));
        this.dq.retry(this.dq.claimOne(), Duration.ZERO, "boom");
        this.dq.reschedule("x", LEASE);
        assertThat(scan(ScanSelection.WAITING_IN_GROUP, "").ids()).containsExactly("x");

        assertThat(scan(ScanSelection.RETRYING, "").messages())
            .extracting(MessageSummary::id, MessageSummary::dueAt, MessageSummary::failures)
            .containsExactly(tuple("x", at(30), 1));
        assertThat(retrying()).isOne();
    }

    private long retrying() {
        long count = 0;
        String cursor = null;
        do {
            RetryingStep step = inspector().countRetrying(QUEUE, cursor).join();
            count += step.count();
            cursor = step.nextCursor();
        }
        while (cursor != null);
        return count;
    }

    private Stream<LocatedId> locate(String id) {
        List<LocatedId> steps = new ArrayList<>();
        String cursor = null;
        do {
            LocatedId step = inspector().locate(QUEUE, id, cursor).join();
            steps.add(step);
            cursor = step.nextCursor();
        }
        while (cursor != null);
        return steps.stream();
    }

    private @Nullable MessageState stateOf(String id) {
        return locate(id).map(LocatedId::state).filter((state) -> state != null).findFirst().orElse(null);
    }

    private List<String> deadLettersOf(String id) {
        return locate(id).flatMap((step) -> step.deadLetters().stream())
            .map(DeadLetterSummary::id)
            .distinct()
            .sorted()
            .toList();
    }

    @Test
    void locatesAMessageAndItsDeadLettersByTheExactId() {
        assertThat(stateOf(ID)).isNull();
        Lease first = this.dq.dead();
        this.dq.advance(Duration.ofSeconds(1));
        this.dq.send(called(ID + "~1", Duration.ZERO));
        this.dq.deadLetter(this.dq.claimOne());
        this.dq.send(called(ID, Duration.ZERO));
        Lease second = this.dq.claimOne();
        assertThat(stateOf(ID)).isEqualTo(MessageState.LEASED);
        this.dq.deadLetter(second);
        this.dq.send(called(ID, DELAY));

        assertThat(stateOf(ID)).isEqualTo(MessageState.SCHEDULED);
        assertThat(deadLettersOf(ID)).containsExactly(first.deadLetterId(), second.deadLetterId());
        assertThat(deadLettersOf("*")).isEmpty();
    }

    @Test
    void locatesAMessageWhoseLeaseHasLapsed() {
        this.dq.lapsed();

        assertThat(stateOf(ID)).isEqualTo(MessageState.SCHEDULED);
    }

    @Test
    void locatesNoCancelledMessageWhoseLeaseHasLapsed() {
        this.dq.cancelled();
        assertThat(stateOf(ID)).isEqualTo(MessageState.LEASED);
        this.dq.advance(LEASE);

        assertThat(stateOf(ID)).isNull();
    }

    @Test
    void locatesOneOfManyDeadLetters() {
        for (int i = 0; i < 250; i++) {
            this.dq.send(called("dead-" + i, Duration.ZERO));
            this.dq.deadLetter(this.dq.claimOne());
        }

        assertThat(deadLettersOf("dead-177")).hasSize(1);
    }

    @Test
    void listsTheCausesOfDeadLettersTheLatestFirst() {
        for (int i = 0; i < 5; i++) {
            this.dq
                .send((i == 3) ? grouped("a-group", "dead-" + i, Duration.ZERO) : called("dead-" + i, Duration.ZERO));
            Lease lease = this.dq.claimOne();
            this.dq.deadLetter(lease, new DeadLetterRequest("cause \u00e9 " + i + "\n\tat com.example", true, at(0)));
            this.dq.advance(Duration.ofMillis(1));
        }

        DeadLetterSummaryPage page = inspector().deadLetterSummaries(QUEUE, null, 3).join();
        DeadLetterSummaryPage rest = inspector().deadLetterSummaries(QUEUE, page.nextCursor(), 3).join();

        assertThat(page.deadLetters()).extracting((summary) -> summary.deadLetter().messageId())
            .containsExactly("dead-4", "dead-3", "dead-2");
        assertThat(page.deadLetters()).extracting(DeadLetterSummaryPage.SummaryWithCause::cause)
            .containsExactly("cause \u00e9 4", "cause \u00e9 3", "cause \u00e9 2");
        assertThat(rest.deadLetters()).extracting(DeadLetterSummaryPage.SummaryWithCause::cause)
            .containsExactly("cause \u00e9 1", "cause \u00e9 0");
        assertThat(rest.nextCursor()).isNull();
    }

    @Test
    void returnsTheBeginningOfALongCause() {
        this.dq.deadLetter(this.dq.leased(), new DeadLetterRequest("\u20ac".repeat(3_000), true, at(0)));

        assertThat(inspector().deadLetterSummaries(QUEUE, null, 10).join().deadLetters().get(0).cause())
            .startsWith("\u20ac".repeat(300));
    }

    @Test
    void countsWhatIsDueUntilATime() {
        this.dq.due();
        this.dq.send(called("b", DELAY));
        this.dq.send(inLane(9, "c", DELAY.plusMillis(1)));
        this.dq.send(grouped("g", "head", LEASE));
        this.dq.send(grouped("g", "follower", LEASE));

        assertThat(inspector().dueCounts(QUEUE, List.of(at(-10), at(9.999), at(10), at(10.001), at(30))).join())
            .isEqualTo(new DueCounts(at(0), 1, List.of(1L, 1L, 2L, 3L, 4L), 4, 1));
        assertThat(inspector().dueCounts(QUEUE, List.of()).join().until()).isEmpty();
    }

}
