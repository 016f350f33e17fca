package io.delayqueue.store.contract.send;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

import io.delayqueue.SkipReason;
import io.delayqueue.fixtures.store.ScheduleValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.HeldRevision;
import io.delayqueue.store.LedgerEntry;
import io.delayqueue.store.OfferConditions;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleState;
import io.delayqueue.store.schedule.ScheduleStep;
import io.delayqueue.store.schedule.ScheduleStep.Occurrence;
import io.delayqueue.store.schedule.StepOutcome;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.ScheduleValues.MINUTE;
import static io.delayqueue.fixtures.store.ScheduleValues.NAME;
import static io.delayqueue.fixtures.store.ScheduleValues.fresh;
import static io.delayqueue.fixtures.store.ScheduleValues.id;
import static io.delayqueue.fixtures.store.ScheduleValues.minute;
import static io.delayqueue.fixtures.store.ScheduleValues.position;
import static io.delayqueue.fixtures.store.ScheduleValues.send;
import static io.delayqueue.fixtures.store.StoreValues.QUEUE;
import static org.assertj.core.api.Assertions.assertThat;

/** Occurrences of schedules whose rows a journal has inserted. */
public abstract class OccurrenceRowCases extends StoreCases {

    private static final String JOURNAL = "journal-1";

    private static final Duration LONG = Duration.ofDays(1);

    private final StoreFixture contract;

    public OccurrenceRowCases(StoreFixture contract) {
        super(contract);
        this.contract = contract;
    }

    @BeforeEach
    void create() {
        this.dq.restored(JOURNAL);
        assertThat(change(null, fresh())).isTrue();
    }

    /** Removes the schedule, and what the store remembers of the rows. */
    @AfterEach
    void remove() {
        assertThat(change(state(), null)).isTrue();
        this.dq.drained();
        ends();
        this.dq.advance(OfferConditions.VOID_MEMORY.plusSeconds(1));
        this.dq.changes(JOURNAL);
    }

    private boolean change(@Nullable ScheduleState from, @Nullable ScheduleState to) {
        return this.contract.schedules().change(QUEUE.queue(), new ScheduleChange(NAME, from, to, null, null)).join();
    }

    private ScheduleState state() {
        return this.contract.schedules().find(QUEUE.queue(), NAME).join().state();
    }

    private StepOutcome fire(ScheduleStep step) {
        return this.contract.schedules().fire(QUEUE.queue(), null, List.of(step)).join().outcomes().get(0);
    }

    /** Returns a step with a row. */
    private static ScheduleStep recorded(ScheduleStep step, long revision, Long... voids) {
        Occurrence occurrence = step.occurrence();
        return step.with(occurrence.recorded(revision, step.next() + LONG.toMillis(), List.of(voids)));
    }

    /** Returns the rows that have ended, and records that. */
    private List<LedgerEntry> ends() {
        List<LedgerEntry> ends = this.dq.changes(JOURNAL).entries();
        this.dq.changes(JOURNAL, ends.toArray(LedgerEntry[]::new));
        return ends;
    }

    private HeldRevision held(long revision) {
        return this.dq.held(LedgerEntry.ended(revision, id(0))).get(0);
    }

    @Test
    void theMessageOfAnOccurrenceHasItsRow() {
        assertThat(fire(recorded(send(fresh()), 7))).isEqualTo(StepOutcome.SENT);

        assertThat(held(7)).isEqualTo(new HeldRevision(true, 7));
        assertThat(ends()).isEmpty();
        assertThat(this.dq.drained()).containsExactly(id(0));
        assertThat(ends()).containsExactly(LedgerEntry.ended(7, id(0)));
    }

    /** P11: the row stays if the call is repeated that has stored the message. */
    @Test
    void aRepeatedCallDoesNotEndItsRow() {
        assertThat(this.dq.replay(() -> fire(recorded(send(fresh()), 7)))).isEqualTo(StepOutcome.STALE);

        assertThat(held(7)).isEqualTo(new HeldRevision(true, 7));
        assertThat(ends()).isEmpty();
    }

    @Test
    void aRowEndsIfAnotherNodeWasFirst() {
        fire(recorded(send(fresh()), 7));

        assertThat(fire(recorded(send(fresh()), 8, 7L))).isEqualTo(StepOutcome.STALE);
        assertThat(ends()).containsExactly(LedgerEntry.ended(8, id(0)));
        assertThat(held(7)).isEqualTo(new HeldRevision(true, 7));
    }

    @Test
    void aRowEndsIfItsOccurrenceIsSkipped() {
        fire(recorded(send(fresh()), 7));
        this.dq.advance(MINUTE);
        ScheduleState state = state();

        assertThat(fire(recorded(send(state, null, id(0), null), 8)))
            .isEqualTo(StepOutcome.skipped(SkipReason.OVERLAP));
        assertThat(ends()).containsExactly(LedgerEntry.ended(8, id(1)));
        this.dq.advance(MINUTE);
        assertThat(fire(recorded(send(state(), null, null, id(0)), 9)))
            .isEqualTo(StepOutcome.skipped(SkipReason.BACKLOG));
        assertThat(ends()).containsExactly(LedgerEntry.ended(9, id(2)));
    }

    @Test
    void aRowEndsIfItsOccurrenceIsEarlyOrTheDecisionOutdated() {
        fire(recorded(send(fresh()), 7));
        ScheduleState state = state();

        assertThat(fire(recorded(send(state), 8))).isEqualTo(StepOutcome.EARLY);
        this.dq.advance(MINUTE.plusMillis(2));
        assertThat(fire(recorded(send(state, minute(1) + 1, null, null), 9))).isEqualTo(StepOutcome.OUTDATED);
        assertThat(ends()).containsExactlyInAnyOrder(LedgerEntry.ended(8, id(1)), LedgerEntry.ended(9, id(1)));
    }

    /** P11: a row that has ended is deleted, so no message may have it. */
    @Test
    void aRepeatedCallDoesNotSendWithARowThatHasEnded() {
        fire(recorded(send(fresh()), 7));
        this.dq.drained();
        ScheduleStep step = recorded(send(state()), 8);
        assertThat(fire(step)).isEqualTo(StepOutcome.EARLY);
        this.dq.advance(MINUTE);

        assertThat(fire(step)).isEqualTo(StepOutcome.OUTDATED);
        ends();
        assertThat(fire(step)).isEqualTo(StepOutcome.OUTDATED);
        assertThat(this.dq.drained()).isEmpty();
    }

    /** A decision is outdated when the row may belong to another node. */
    @Test
    void anOccurrenceIsNotSentAfterTheDeadlineOfItsRow() {
        this.dq.advance(Duration.ofMillis(11));

        assertThat(fire(send(fresh()).with(send(fresh()).occurrence().recorded(7, minute(0) + 10, List.of()))))
            .isEqualTo(StepOutcome.OUTDATED);
        assertThat(this.dq.drained()).isEmpty();
    }

    @Test
    void aRowEndsIfTheQueueHoldsTheOccurrenceAlready() {
        this.dq.send(ScheduleValues.message(minute(0), null, null, 4));

        assertThat(fire(recorded(send(fresh()), 7, 5L))).isEqualTo(StepOutcome.KEPT);
        assertThat(ends()).containsExactly(LedgerEntry.ended(7, id(0)));
        assertThat(state().next()).isEqualTo(minute(1));
        assertThat(this.dq.drained()).containsExactly(id(0));
    }

    /** P1: rows of nodes that died, and of messages that the store has lost. */
    @Test
    void otherRowsOfAnOccurrenceEndWhenItIsSent() {
        assertThat(fire(recorded(send(fresh()), 9, 5L, 7L))).isEqualTo(StepOutcome.SENT);

        assertThat(ends()).containsExactlyInAnyOrder(LedgerEntry.ended(5, id(0)), LedgerEntry.ended(7, id(0)));
        assertThat(held(9)).isEqualTo(new HeldRevision(true, 9));
        assertThat(this.dq.drained()).containsExactly(id(0));
    }

    @Test
    void aLedgerSendsNoOccurrenceWithoutARow() {
        ledger(true);

        assertThat(fire(send(fresh()))).isEqualTo(StepOutcome.UNRECORDED);
        assertThat(state()).isEqualTo(fresh());
        assertThat(fire(recorded(send(fresh()), 7))).isEqualTo(StepOutcome.SENT);
        this.dq.advance(MINUTE);
        ScheduleState state = state();
        assertThat(fire(ScheduleValues.skip(state, SkipReason.MISFIRE, 1)))
            .isEqualTo(StepOutcome.skipped(SkipReason.MISFIRE));
        ledger(false);
        assertThat(state()).isEqualTo(state.skipped(position(2)));
    }

    /** P1: the schedules of a ledger that is left go on. */
    @Test
    void aNodeThatLeavesTheLedgerSendsWithoutARow() {
        ledger(true);

        assertThat(fire(send(fresh()).withoutRow())).isEqualTo(StepOutcome.SENT);
        ledger(false);
        assertThat(this.dq.drained()).containsExactly(id(0));
        assertThat(ends()).isEmpty();
    }

    private void ledger(boolean ledger) {
        Optional<PartitionLayout> layout = this.contract.records().read(QUEUE).join();
        this.contract.records()
            .replace(QUEUE.queue(), layout, layout.orElse(PartitionLayout.ONE).ofLedger(ledger))
            .join();
    }

}
