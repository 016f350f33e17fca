package io.delayqueue.store.contract.send;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.delayqueue.MessageState;
import io.delayqueue.ScheduleSkip;
import io.delayqueue.SkipReason;
import io.delayqueue.fixtures.store.ScheduleValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.WakeUpProbe;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.Lease;
import io.delayqueue.store.schedule.FireResult;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleCursor;
import io.delayqueue.store.schedule.ScheduleState;
import io.delayqueue.store.schedule.ScheduleStep;
import io.delayqueue.store.schedule.SkipLog;
import io.delayqueue.store.schedule.StepOutcome;
import io.delayqueue.store.schedule.ScheduleSnapshot;
import io.delayqueue.store.schedule.ScheduleSnapshotPage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.ScheduleValues.MINUTE;
import static io.delayqueue.fixtures.store.ScheduleValues.NAME;
import static io.delayqueue.fixtures.store.ScheduleValues.fresh;
import static io.delayqueue.fixtures.store.ScheduleValues.id;
import static io.delayqueue.fixtures.store.ScheduleValues.instant;
import static io.delayqueue.fixtures.store.ScheduleValues.minute;
import static io.delayqueue.fixtures.store.ScheduleValues.position;
import static io.delayqueue.fixtures.store.ScheduleValues.send;
import static io.delayqueue.fixtures.store.ScheduleValues.sendDetailed;
import static io.delayqueue.fixtures.store.ScheduleValues.skip;
import static io.delayqueue.fixtures.store.StoreValues.QUEUE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static org.assertj.core.api.Assertions.assertThat;

/** A schedule, which advances with each step that is based on its state. */
public abstract class ScheduleCases extends StoreCases {

    private static final String NODE = "node1";

    private static final @Nullable String NOBODY = null;

    private final StoreFixture contract;

    public ScheduleCases(StoreFixture contract) {
        super(contract);
        this.contract = contract;
    }

    @AfterEach
    void removeAll() {
        for (List<ScheduleSnapshot> left = list(); !left.isEmpty(); left = list()) {
            left.forEach((schedule) -> change(new ScheduleChange(schedule.name(), schedule.state(), null, null, null)));
        }
    }

    private FireResult fire(ScheduleStep... steps) {
        return fire(NODE, steps);
    }

    private FireResult fire(@Nullable String node, ScheduleStep... steps) {
        return this.contract.schedules().fire(QUEUE.queue(), node, List.of(steps)).join();
    }

    private boolean change(ScheduleChange change) {
        return this.contract.schedules().change(QUEUE.queue(), change).join();
    }

    private boolean put(@Nullable ScheduleState expected, ScheduleState state) {
        return change(new ScheduleChange(NAME, expected, state, null, null));
    }

    private ScheduleSnapshot find() {
        return this.contract.schedules().find(QUEUE.queue(), NAME).join();
    }

    private List<ScheduleSnapshot> list() {
        return this.contract.schedules().list(QUEUE.queue(), null, 100).join().schedules();
    }

    private static ScheduleState sent(ScheduleState from, int minute) {
        return from.sent(position(minute));
    }

    @Test
    void isStoredOnceAndFound() {
        assertThat(find().state()).isNull();
        assertThat(put(null, fresh())).isTrue();
        assertThat(put(null, fresh())).isFalse();

        assertThat(find()).isEqualTo(new ScheduleSnapshot(NAME, fresh(), SkipLog.EMPTY, at(0), null));
        assertThat(list()).containsExactly(find());
    }

    @Test
    void sendsItsOccurrenceAndAdvances() {
        put(null, fresh());

        assertThat(fire())
            .isEqualTo(new FireResult(at(0), instant(0), null, null, 1, List.of(), Map.of(NAME, fresh()), Map.of()));
        assertThat(fire(send(fresh()))).isEqualTo(new FireResult(at(0), instant(1), NODE, at(0), 1,
                List.of(StepOutcome.SENT), Map.of(), Map.of(NAME, sent(fresh(), 1))));
        assertThat(find().state()).isEqualTo(sent(fresh(), 1));
        assertThat(this.dq.claim().messages()).singleElement().satisfies((message) -> {
            assertThat(message.lease().id()).isEqualTo(id(0));
            assertThat(message.dueAt()).isEqualTo(instant(0));
        });
    }

    @Test
    void sendsAnOccurrenceWithAllDetails() {
        put(null, fresh());
        this.dq.advance(Duration.ofMinutes(30));

        fire(sendDetailed(fresh()));

        assertThat(this.dq.find(id(0))).hasValueSatisfying((message) -> {
            assertThat(message.state()).isEqualTo(MessageState.SCHEDULED);
            assertThat(message.dueAt()).isEqualTo(instant(0));
            assertThat(message.expiresAt()).isEqualTo(instant(60));
            assertThat(message.priority()).isEqualTo(7);
            assertThat(message.group()).isEqualTo("@" + NAME);
        });
    }

    @Test
    void sendsEachOccurrenceOnceWhoeverFires() {
        put(null, fresh());

        assertThat(fire("node1", send(fresh())).outcomes()).containsExactly(StepOutcome.SENT);
        assertThat(fire("node2", send(fresh()))).isEqualTo(
                new FireResult(at(0), instant(1), "node1", at(0), 1, List.of(StepOutcome.STALE), Map.of(), Map.of()));
        assertThat(this.dq.drained()).containsExactly(id(0));
        assertThat(fire("node2", send(fresh())).outcomes()).containsExactly(StepOutcome.STALE);
        assertThat(this.dq.drained()).isEmpty();
    }

    @Test
    void sendsOnceIfTheCallIsRepeated() {
        put(null, fresh());

        assertThat(this.dq.replay(() -> fire(send(fresh()))).outcomes()).containsExactly(StepOutcome.STALE);
        assertThat(find().state()).isEqualTo(sent(fresh(), 1));
        assertThat(this.dq.drained()).containsExactly(id(0));
    }

    @Test
    void keepsAnOccurrenceThatTheQueueHolds() {
        put(null, fresh());
        this.dq.send(ScheduleValues.message(fresh().next(), null, null, 4));

        assertThat(fire(send(fresh())).outcomes()).containsExactly(StepOutcome.KEPT);
        assertThat(this.dq.drained()).containsExactly(id(0));
    }

    @Test
    void appliesSeveralStepsInTheirOrder() {
        put(null, fresh());
        this.dq.advance(MINUTE.multipliedBy(5));
        ScheduleState one = sent(fresh(), 1);
        ScheduleState three = one.skipped(position(3));

        assertThat(fire(send(fresh()), skip(one, SkipReason.MISFIRE, 2), send(three), send(three)).outcomes())
            .containsExactly(StepOutcome.SENT, StepOutcome.skipped(SkipReason.MISFIRE), StepOutcome.SENT,
                    StepOutcome.STALE);
        assertThat(find().state()).isEqualTo(sent(three, 4));
        assertThat(this.dq.drained()).containsExactly(id(0), id(3));
    }

    @Test
    void isNeverEarly() {
        put(null, fresh());
        fire(send(fresh()));
        ScheduleState state = sent(fresh(), 1);
        this.dq.advance(MINUTE.minusNanos(1_000));

        assertThat(fire(send(state))).isEqualTo(new FireResult(at(59.999999), instant(1), NODE, at(0), 1,
                List.of(StepOutcome.EARLY), Map.of(), Map.of(NAME, state)));
        this.dq.advance(Duration.ofNanos(1_000));
        assertThat(fire(send(state)).outcomes()).containsExactly(StepOutcome.SENT);
    }

    @Test
    void isNotFiredByADecisionThatIsOutdated() {
        put(null, fresh());
        long until = fresh().next() + 1_000;
        this.dq.advance(Duration.ofMillis(1_001));

        assertThat(fire(send(fresh(), until, null, null)).outcomes()).containsExactly(StepOutcome.OUTDATED);
        assertThat(find().state()).isEqualTo(fresh());
        assertThat(fire(send(fresh(), until + 1, null, null)).outcomes()).containsExactly(StepOutcome.SENT);
    }

    @Test
    void isNotFiredByADecisionAboutAnEarlierGeneration() {
        put(null, fresh());
        put(fresh(), fresh().paused(true));

        assertThat(fire(send(fresh())).outcomes()).containsExactly(StepOutcome.STALE);
        assertThat(this.dq.drained()).isEmpty();
    }

    @Test
    void countsWhatItSkips() {
        put(null, fresh());
        this.dq.advance(MINUTE.multipliedBy(10));

        assertThat(fire(skip(fresh(), SkipReason.MISFIRE, 3)).outcomes())
            .containsExactly(StepOutcome.skipped(SkipReason.MISFIRE));
        ScheduleState state = fresh().skipped(position(3));
        assertThat(find().state()).isEqualTo(state);
        assertThat(find().skips()).isEqualTo(new SkipLog(Map.of(SkipReason.MISFIRE, 3L),
                List.of(new ScheduleSkip(SkipReason.MISFIRE, instant(0), instant(2), 3))));
    }

    @Test
    void joinsSkipsUntilAnOccurrenceIsSent() {
        put(null, fresh());
        this.dq.advance(MINUTE.multipliedBy(10));
        ScheduleState one = fresh().skipped(position(1));
        ScheduleState two = one.skipped(position(2));
        ScheduleState three = sent(two, 3);
        ScheduleState four = three.skipped(position(4));

        fire(skip(fresh(), SkipReason.MISFIRE, 1), skip(one, SkipReason.MISFIRE, 1), send(two),
                skip(three, SkipReason.MISFIRE, 1), skip(four, SkipReason.PAUSED, 1));

        assertThat(find().skips()).isEqualTo(new SkipLog(Map.of(SkipReason.MISFIRE, 3L, SkipReason.PAUSED, 1L),
                List.of(new ScheduleSkip(SkipReason.PAUSED, instant(4), instant(4), 1),
                        new ScheduleSkip(SkipReason.MISFIRE, instant(3), instant(3), 1),
                        new ScheduleSkip(SkipReason.MISFIRE, instant(0), instant(1), 2))));
    }

    @Test
    void keepsTheLastSkips() {
        put(null, fresh());
        this.dq.advance(MINUTE.multipliedBy(50));
        ScheduleState state = fresh();
        for (int i = 0; i < 30; i++) {
            SkipReason reason = (i % 2 == 0) ? SkipReason.MISFIRE : SkipReason.PAUSED;
            fire(skip(state, reason, 1));
            state = state.skipped(position(i + 1));
        }

        assertThat(find().skips().totals()).isEqualTo(Map.of(SkipReason.MISFIRE, 15L, SkipReason.PAUSED, 15L));
        assertThat(find().skips().skips()).hasSize(20)
            .first()
            .isEqualTo(new ScheduleSkip(SkipReason.PAUSED, instant(29), instant(29), 1));
    }

    @Test
    void skipsWhileTheLastOccurrenceIsHeld() {
        put(null, fresh());
        fire(send(fresh()));
        ScheduleState state = sent(fresh(), 1);
        this.dq.advance(MINUTE);

        assertThat(fire(send(state, null, id(0), null)).outcomes())
            .containsExactly(StepOutcome.skipped(SkipReason.OVERLAP));
        assertThat(find().state()).isEqualTo(state.skipped(position(2)));
        assertThat(find().skips().skips())
            .containsExactly(new ScheduleSkip(SkipReason.OVERLAP, instant(1), instant(1), 1));
    }

    @Test
    void skipsWhileTheLastOccurrenceIsInFlight() {
        put(null, fresh());
        fire(send(fresh()));
        Lease lease = this.dq.claimOne();
        this.dq.advance(MINUTE);
        ScheduleState state = sent(fresh(), 1);

        assertThat(fire(send(state, null, id(0), null)).outcomes())
            .containsExactly(StepOutcome.skipped(SkipReason.OVERLAP));
        this.dq.acknowledge(lease);
        this.dq.advance(MINUTE);
        assertThat(fire(send(state.skipped(position(2)), null, id(0), null)).outcomes())
            .containsExactly(StepOutcome.SENT);
    }

    @Test
    void isNotBlockedByADeadLetter() {
        put(null, fresh());
        fire(send(fresh()));
        this.dq.deadLetter(this.dq.claimOne());
        this.dq.advance(MINUTE);

        assertThat(fire(send(sent(fresh(), 1), null, id(0), id(0))).outcomes()).containsExactly(StepOutcome.SENT);
    }

    @Test
    void skipsWhileAnEarlierOccurrenceIsHeld() {
        put(null, fresh());
        fire(send(fresh()));
        this.dq.advance(MINUTE);
        ScheduleState state = sent(fresh(), 1);

        assertThat(fire(send(state, null, null, id(0))).outcomes())
            .containsExactly(StepOutcome.skipped(SkipReason.BACKLOG));
        assertThat(find().state().tail()).isEqualTo(fresh().tail());
        assertThat(find().state().ahead()).isEqualTo(ScheduleState.BACKLOGGED);
    }

    @Test
    void isChangedOnlyAsItWasRead() {
        put(null, fresh());
        fire(send(fresh()));

        assertThat(put(fresh(), fresh().paused(true))).isFalse();
        assertThat(put(sent(fresh(), 1), sent(fresh(), 1).paused(true))).isTrue();
        assertThat(find().state()).isEqualTo(sent(fresh(), 1).paused(true));
        assertThat(change(new ScheduleChange(NAME, fresh(), null, null, null))).isFalse();
        assertThat(change(new ScheduleChange(NAME, find().state(), null, null, null))).isTrue();
        assertThat(find().state()).isNull();
        assertThat(list()).isEmpty();
    }

    @Test
    void recordsASkipWithAChange() {
        ScheduleSkip gap = new ScheduleSkip(SkipReason.DATA_LOSS, instant(-3), instant(-1), 3);

        assertThat(change(new ScheduleChange(NAME, null, fresh(), gap, null))).isTrue();
        assertThat(find().skips()).isEqualTo(new SkipLog(Map.of(SkipReason.DATA_LOSS, 3L), List.of(gap)));
    }

    @Test
    void leavesNothingWhenItIsRemoved() {
        change(new ScheduleChange(NAME, null, fresh(),
                new ScheduleSkip(SkipReason.DATA_LOSS, instant(-1), instant(-1), 1), NODE));
        fire(send(fresh()));
        change(new ScheduleChange(NAME, find().state(), null, null, null));

        put(null, fresh());
        assertThat(find().skips()).isEqualTo(SkipLog.EMPTY);
        assertThat(fire().firingNode()).isNull();
        assertThat(this.dq.drained()).containsExactly(id(0));
    }

    @Test
    void isFiredFirstByTheNodeThatFiredLast() {
        put(null, fresh());
        fire("node1", send(fresh()));
        this.dq.advance(MINUTE);
        fire("node2", send(sent(fresh(), 1)));
        this.dq.advance(Duration.ofSeconds(1));

        assertThat(fire().firingNode()).isEqualTo("node2");
        assertThat(fire().firedAt()).isEqualTo(at(60));
        assertThat(this.contract.schedules().resign(QUEUE.queue(), "node1").join()).isFalse();
        assertThat(this.contract.schedules().resign(QUEUE.queue(), "node2").join()).isTrue();
        assertThat(fire().firingNode()).isNull();
        assertThat(change(new ScheduleChange(NAME, find().state(), find().state(), null, "node3"))).isTrue();
        assertThat(fire().firingNode()).isEqualTo("node3");
        assertThat(fire().firedAt()).isNull();
    }

    @Test
    void isNotFiredFirstByACallerWithoutANode() {
        put(null, fresh());

        assertThat(fire(NOBODY, send(fresh())).firingNode()).isNull();
        this.dq.advance(MINUTE);
        fire("node1", send(sent(fresh(), 1)));
        this.dq.advance(MINUTE);
        assertThat(fire(NOBODY, send(sent(sent(fresh(), 1), 2))).firingNode()).isEqualTo("node1");
    }

    @Test
    void wakesWorkersAndNotifiesNodes() {
        try (WakeUpProbe probe = this.dq.listen()) {
            put(null, fresh());
            assertThat(probe.awaitNotification()).isTrue();
            fire(send(fresh()));
            assertThat(probe.awaitNotification()).isTrue();
            this.contract.schedules().resign(QUEUE.queue(), NODE).join();
            assertThat(probe.awaitNotification()).isTrue();
        }
    }

    @Test
    void isListedByItsNextTimeAndName() {
        for (String name : List.of("b", "a", "c")) {
            change(new ScheduleChange(name, null, fresh(), null, null));
        }
        change(new ScheduleChange("later", null, fresh().skipped(position(5)), null, null));
        change(new ScheduleChange("never", null, fresh().skipped(new ScheduleState.Position(ScheduleState.NONE, 0, 0)),
                null, null));

        assertThat(list()).extracting(ScheduleSnapshot::name).containsExactly("a", "b", "c", "later", "never");
        assertThat(page(new ScheduleCursor(fresh().next(), "a"), 2)).containsExactly("b", "c");
        assertThat(page(new ScheduleCursor(fresh().next(), "bb"), 2)).containsExactly("c", "later");
        assertThat(page(new ScheduleCursor(fresh().next() + 1, "a"), 9)).containsExactly("later", "never");
        assertThat(page(new ScheduleCursor(ScheduleState.NONE, "never"), 9)).isEmpty();
    }

    @Test
    void isTriedAgainAMinuteAfterANodeCouldNotReadIt() {
        put(null, fresh());
        change(new ScheduleChange("other", null, fresh().skipped(position(5)), null, null));

        assertThat(fire(ScheduleStep.postpone(NAME, fresh().paused(true))).outcomes())
            .containsExactly(StepOutcome.STALE);
        assertThat(fire(ScheduleStep.postpone(NAME, fresh()))).isEqualTo(new FireResult(at(0), instant(1), null, null,
                2, List.of(StepOutcome.POSTPONED), Map.of(), Map.of(NAME, fresh())));

        assertThat(find().state()).isEqualTo(fresh());
        ScheduleCursor next = this.contract.schedules().list(QUEUE.queue(), null, 1).join().next();
        assertThat(page(next, 1)).containsExactly("other");
        this.dq.advance(MINUTE);
        assertThat(fire(send(fresh())).outcomes()).containsExactly(StepOutcome.SENT);
    }

    @Test
    void isTriedAtItsTimeIfThatIsLater() {
        ScheduleState later = fresh().skipped(position(5));
        put(null, later);

        assertThat(fire(ScheduleStep.postpone(NAME, later)).nextAt()).isEqualTo(instant(5));
    }

    private List<String> page(ScheduleCursor after, int limit) {
        return this.contract.schedules()
            .list(QUEUE.queue(), after, limit)
            .join()
            .schedules()
            .stream()
            .map(ScheduleSnapshot::name)
            .toList();
    }

    @Test
    void areListedByPagesHoweverLargeTheirDefinitionsAre() {
        String definition = "{}\n\"%s\"".formatted("x".repeat(20_000));
        List<String> names = IntStream.range(0, 80).mapToObj("s%02d"::formatted).toList();
        names.forEach((name) -> change(new ScheduleChange(name, null,
                new ScheduleState(1, minute(name.equals("s79") ? -1 : 0), 0, 0, 0, 0, false, "", definition), null,
                null)));

        List<String> listed = new ArrayList<>();
        ScheduleCursor next = null;
        do {
            ScheduleSnapshotPage page = this.contract.schedules().list(QUEUE.queue(), next, 70).join();
            assertThat(page.schedules()).hasSizeBetween(1, 70);
            page.schedules().forEach((schedule) -> listed.add(schedule.name()));
            next = page.next();
        }
        while (next != null);

        assertThat(listed).hasSize(80).startsWith("s79", "s00", "s01").endsWith("s78").doesNotHaveDuplicates();
    }

    @Test
    void withoutANextTimeIsNeverDue() {
        ScheduleState ended = fresh().skipped(new ScheduleState.Position(ScheduleState.NONE, 0, 0));
        put(null, ended);
        this.dq.advance(Duration.ofDays(36_500));

        FireResult firing = fire(send(ended));
        assertThat(firing.outcomes()).containsExactly(StepOutcome.EARLY);
        assertThat(firing.nextAt()).isNull();
        assertThat(firing.due()).isEmpty();
        assertThat(firing.count()).isOne();
    }

    @Test
    void thoseOfTheNextTimeAreReturnedToTheFiringNodeAlone() {
        put(null, fresh());
        change(new ScheduleChange("next", null, fresh().skipped(position(1)), null, null));
        change(new ScheduleChange("later", null, fresh().skipped(position(2)), null, null));

        assertThat(fire().upcoming()).isEmpty(); // One is due.
        assertThat(fire(send(fresh())).upcoming()).containsOnlyKeys(NAME, "next");
        assertThat(fire("node2").upcoming()).isEmpty();
        assertThat(this.contract.schedules().resign(QUEUE.queue(), NODE).join()).isTrue();
        assertThat(fire("node2").upcoming()).containsOnlyKeys(NAME, "next");
        assertThat(fire((String) null).upcoming()).isEmpty();
    }

    @Test
    void returnsTheOldestDueFirstAndABoundedNumber() {
        for (int i = 0; i < 120; i++) {
            change(new ScheduleChange("s%03d".formatted(i), null, fresh().skipped(position(i)), null, null));
        }
        this.dq.advance(MINUTE.multipliedBy(110));

        assertThat(fire().due().keySet()).hasSize(100).startsWith("s000", "s001").endsWith("s099");
    }

}
