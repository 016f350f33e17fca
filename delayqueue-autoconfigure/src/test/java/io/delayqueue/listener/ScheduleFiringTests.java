package io.delayqueue.listener;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import io.delayqueue.MisfirePolicy;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.SchedulePutResult;
import io.delayqueue.ScheduleSkip;
import io.delayqueue.SkipReason;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.schedule.OccurrenceEvents;
import io.delayqueue.store.schedule.OccurrenceIds;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleChanger;
import io.delayqueue.store.schedule.ScheduleState;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/** Verifies that each due occurrence is sent once, and when. */
@ExtendWith(OutputCaptureExtension.class)
class ScheduleFiringTests extends ScheduleFiringBed {

    @Test
    void aNodeSendsEachOccurrenceWhenItIsDueByOneCall() {
        advance(MINUTE.dividedBy(2));
        this.one.start();
        put(this.one);
        int calls = this.one.calls;

        advance(MINUTE.dividedBy(2).minusMillis(10));
        assertThat(sent()).isEmpty();
        advance(Duration.ofMillis(10));

        assertThat(sent()).isEqualTo(minutes(1));
        advance(MINUTE.multipliedBy(9));
        assertThat(sent()).isEqualTo(minutes(10));
        // Calls that fire, reads seconds after their wake-ups, and a read each minute.
        assertThat(this.one.calls - calls).isLessThanOrEqualTo(10 + 10 + 10);
    }

    @Test
    void aQueueWithoutSchedulesIsReadOnceAMinute() {
        this.one.start();
        settle();

        advance(MINUTE.multipliedBy(10));

        assertThat(this.one.calls).isEqualTo(11);
    }

    /** Callers of HTTP may put schedules in queues of any names. */
    @Test
    void aQueueWhoseSchedulesWereRemovedIsReadForTenMinutes() {
        this.one.firing();
        put(this.one);
        this.one.schedules.put(QUEUE);
        advance(MINUTE);
        assertThat(sent()).hasSize(1);
        new ScheduleChanger(this.one.schedules, OccurrenceEvents.NONE).remove(QUEUE, "minutely").join();

        advance(MINUTE.multipliedBy(9));
        assertThat(this.one.schedules.isAdded(QUEUE)).isTrue();
        advance(MINUTE.multipliedBy(3));
        assertThat(this.one.schedules.isAdded(QUEUE)).isFalse();
        int calls = this.one.calls;
        advance(MINUTE.multipliedBy(10));
        assertThat(this.one.calls).isEqualTo(calls);

        put(this.one);
        this.one.schedules.put(QUEUE);
        advance(MINUTE);
        assertThat(sent()).hasSize(2);
    }

    /** A listener may be the only one that fires what others put. */
    @Test
    void aQueueOfAListenerIsReadWithoutSchedules() {
        this.one.start();
        this.one.schedules.put(QUEUE);
        advance(MINUTE.multipliedBy(15));
        put(this.two);

        advance(MINUTE.multipliedBy(2));

        assertThat(sent()).hasSize(2);
    }

    /** The database of a ledger is away. */
    @Test
    void stepsThatFailAreRepeatedAndReportedOnce(CapturedOutput output) {
        this.one.start();
        put(this.one);
        this.one.rejectsSteps = true;
        int calls = this.one.calls;

        advance(MINUTE.multipliedBy(2));

        assertThat(output).containsOnlyOnce("are not fired; retrying").doesNotContain("are fired again");
        assertThat(this.one.calls - calls).isLessThan(100);
        this.one.rejectsSteps = false;
        advance(Duration.ofSeconds(3));
        assertThat(output).containsOnlyOnce("are fired again");
        assertThat(state().last()).isEqualTo(minutes(2).get(1));
    }

    /** With Jedis a call waits for Redis. */
    @Test
    void theThreadOfSchedulesDoesNotMakeCallsThatBlock() {
        this.one.schedules.declare(QUEUE, minutely(), "{}");
        List<Runnable> calls = new ArrayList<>();
        ScheduleFiring firing = new ScheduleFiring(this.one.schedules, this.store, this.timer, calls::add, SAFETY_POLL,
                MessageEventRecorderFactory.NONE);
        firing.add(QUEUE);
        settle();
        assertThat(this.one.calls).isZero();
        assertThat(this.one.declarations).isZero();
        for (int i = 0; i < 6; i++) {
            run(calls);
            settle();
        }
        assertThat(this.one.declarations).isPositive();
        assertThat(state().owner()).isEqualTo("reporting");
        assertThat(this.store.schedules().fire(QUEUE, null, List.of()).join().firingNode()).isNotNull();

        firing.close();
        assertThat(this.store.schedules().fire(QUEUE, null, List.of()).join().firingNode()).isNotNull();
        run(calls);
        assertThat(this.store.schedules().fire(QUEUE, null, List.of()).join().firingNode()).isNull();
    }

    private static void run(List<Runnable> calls) {
        List<Runnable> current = List.copyOf(calls);
        calls.clear();
        current.forEach(Runnable::run);
    }

    /** Nothing handles the occurrences, as in a queue that is paused. */
    @Test
    void noMoreOccurrencesWaitThanTheCatchUpLimit() {
        this.one.start();
        ScheduleDefinition limited = ScheduleDefinition.fixedRate("minutely", MINUTE)
            .misfire(MisfirePolicy.ALL)
            .catchUpLimit(3)
            .build();
        put(this.one, limited);
        advance(MINUTE.multipliedBy(20));
        assertThat(sent()).isEqualTo(minutes(3));

        this.store.cancel(PartitionTarget.first(QUEUE), OccurrenceIds.id("minutely", minutes(1).get(0))).join();
        advance(MINUTE.multipliedBy(20));

        assertThat(sent())
            .isEqualTo(Stream.of(1, 2, 3, 21, 22, 23).map((minute) -> minutes(minute).get(minute - 1)).toList());
        assertThat(state().next()).isEqualTo(minutes(41).get(40));
    }

    @Test
    void stepsOfAStateThatHasChangedAreDecidedAgainAtOnce() {
        advance(MINUTE.dividedBy(2));
        this.one.start();
        put(this.one);
        advance(MINUTE.dividedBy(2).minusMillis(10));
        this.one.ignoresSteps = true; // as if a change had been first
        int attempts = this.one.attempts;

        advance(Duration.ofMillis(10));

        assertThat(this.one.attempts - attempts).isEqualTo(2);
    }

    /** With a timer of its own, which ends, and with that of virtual time. */
    @ParameterizedTest
    @ValueSource(booleans = { true, false })
    void aNodeThatBecomesTheFiringNodeWhileItStopsResigns(boolean own) {
        this.one.processTimer = own ? new EndingTimer(this.timer, new AtomicBoolean()) : this.timer;
        this.one.start();
        settle();
        put(this.two);
        this.one.latency = Duration.ofMillis(100);
        advance(MINUTE);
        assertThat(this.one.attempts).isOne(); // whose answer comes 100 ms later
        this.one.firing.close();

        advance(Duration.ofMillis(100));

        assertThat(firingNode()).isNull();
    }

    private @Nullable String firingNode() {
        return this.store.schedules().fire(QUEUE, null, List.of()).join().firingNode();
    }

    /** The firing node has died in a backlog, and Redis' clock was set back. */
    @Test
    void aStepBackOfTheClockDelaysNoTakeover() {
        this.one.start();
        put(this.one);
        advance(MINUTE);
        this.step = Duration.ofSeconds(-30);
        this.one.dead = true;
        long due = ManualNanoClock.START.plusSeconds(20).toEpochMilli();
        this.store.schedules()
            .change(QUEUE,
                    new ScheduleChange("minutely", state(),
                            new ScheduleState(state().generation() + 1, due, 0, due, 0, 0, false, "",
                                    state().definition()),
                            null, null))
            .join();

        this.two.start();
        advance(Duration.ofSeconds(2));

        assertThat(this.two.sent).containsExactly(due);
    }

    @Test
    void aLedgerIsNotFiredWithoutItsJournal(CapturedOutput output) {
        this.one.start();
        put(this.one);
        this.store.partitionRecords().replace(QUEUE, Optional.empty(), PartitionLayout.ONE.ofLedger(true)).join();

        advance(MINUTE.multipliedBy(3));
        this.one.ignoresSteps = true; // as if another node were first
        advance(Duration.ofSeconds(5));
        this.one.ignoresSteps = false;
        advance(MINUTE);

        assertThat(sent()).isEmpty();
        assertThat(state().sent()).isZero();
        assertThat(output).containsOnlyOnce("The schedules of queue 'reports' are not fired by this application");
    }

    @Test
    void aStoreThatIsAwayIsCalledUntilItAnswers() {
        this.one.start();
        put(this.one);
        this.one.dead = true;
        advance(MINUTE.plusSeconds(10));

        this.one.dead = false;
        advance(Duration.ofSeconds(3));

        assertThat(sent()).isEqualTo(minutes(1));
    }

    @Test
    void aReplyThatIsLostDoesNotDoubleAnOccurrence() {
        this.one.start();
        put(this.one);
        this.one.losesReplies = true;
        advance(MINUTE.plusSeconds(5));
        this.one.losesReplies = false;

        advance(MINUTE.multipliedBy(2).minusSeconds(2));

        assertThat(state().sent()).isEqualTo(3);
        assertThat(state().last()).isEqualTo(minutes(3).get(2));
    }

    @Test
    void aDeclaredScheduleIsBackWithinAMinuteAfterTheStoreWasEmptied() {
        this.one.schedules.declare(QUEUE, minutely(), "{}");
        this.one.start();
        settle();
        advance(MINUTE);
        assertThat(sent()).isEqualTo(minutes(1));

        this.store.clear();
        advance(MINUTE);

        assertThat(state().owner()).isEqualTo("reporting");
        advance(MINUTE);
        assertThat(sent()).endsWith(minutes(3).get(2));
    }

    @Test
    void aFailedDeclarationIsRepeatedByOneTimer() {
        this.one.schedules.declare(QUEUE, minutely(), "{}");
        this.one.dead = true;
        this.one.start();
        settle();
        advance(MINUTE.multipliedBy(5));
        int declarations = this.one.declarations;

        advance(MINUTE.multipliedBy(5));

        assertThat(this.one.declarations - declarations).isLessThanOrEqualTo(5 * 12 + 10);
    }

    @Test
    void aNodeWithoutDeclarationsSaysSoToAQueueWithSchedules() {
        this.one.start();
        advance(MINUTE);
        assertThat(this.one.declarations).isZero();

        put(this.two);
        advance(MINUTE.multipliedBy(2));

        assertThat(this.one.declarations).isPositive();
    }

    /**
     * Its application may have other nodes that declare schedules, and are down: after an
     * hour these schedules would be removed.
     */
    @Test
    void aProcessThatOnlyPutsSchedulesDoesNotSayThatItsApplicationDeclaresNone() {
        this.one.firing();
        put(this.one);
        this.one.schedules.put(QUEUE);

        advance(MINUTE.multipliedBy(3));

        assertThat(sent()).isEqualTo(minutes(3));
        assertThat(this.one.declarations).isZero();
        this.one.firing.add(QUEUE);
        advance(MINUTE);
        assertThat(this.one.declarations).isPositive();
    }

    @Test
    void aScheduleThatIsNotReadableDelaysNoOtherAndCanBePutAgain() {
        this.one.start();
        put(this.one);
        long due = ManualNanoClock.START.plusSeconds(31).toEpochMilli();
        this.store.schedules()
            .change(QUEUE,
                    new ScheduleChange("broken", null,
                            new ScheduleState(1, due, 0, due, 0, 0, false, "", "{\"fixedRate\":1}\n1"), null, null))
            .join();
        int calls = this.one.calls;

        for (int i = 1; i <= 10; i++) {
            advance(MINUTE);
            assertThat(sent()).isEqualTo(minutes(i));
        }
        assertThat(this.one.calls - calls).isLessThanOrEqualTo(10 * (1 + 2 + 1) + 2);

        ScheduleDefinition repaired = ScheduleDefinition.fixedRate("broken", MINUTE).build();
        assertThat(new ScheduleChanger(this.one.schedules, OccurrenceEvents.NONE)
            .put(QUEUE, repaired, this.one.schedules.codec().write(repaired, "{}"))
            .join()).isEqualTo(SchedulePutResult.REPLACED);
        settle();
        advance(MINUTE);
        assertThat(sent()).hasSize(12);
    }

    @Test
    void aStepWithoutAnEffectIsNotRepeatedWithoutAWait() {
        this.one.start();
        put(this.one);
        this.one.ignoresSteps = true;
        int calls = this.one.calls;

        advance(MINUTE.plusSeconds(50));
        assertThat(this.one.calls - calls).isBetween(30, 80);

        this.one.ignoresSteps = false;
        advance(Duration.ofSeconds(3));
        assertThat(sent()).isEqualTo(minutes(1));
    }

    @Test
    void aTimeThatHasComeWithoutAScheduleIsNotReadWithoutAWait() {
        this.one.start();
        put(this.one);
        this.one.hidesDue = true;
        int calls = this.one.calls;

        advance(MINUTE.plusSeconds(50));
        assertThat(this.one.calls - calls).isBetween(15, 60);

        this.one.hidesDue = false;
        advance(Duration.ofSeconds(3));
        assertThat(sent()).isEqualTo(minutes(1));
    }

    @Test
    void aCallThatFailsAfterTheStopIsNotLogged(CapturedOutput output) {
        this.one.schedules.declare(QUEUE, minutely(), "{}");
        this.one.start();
        settle();
        this.one.dead = true;
        this.timer.advance(MINUTE);
        assertThat(this.one.firing.isCalling()).isTrue();
        int logged = output.getAll().length();

        this.one.firing.close();
        settle();

        assertThat(this.one.firing.isCalling()).isFalse();
        assertThat(output.getAll().substring(logged)).doesNotContain("schedules of queue");
        assertThat(this.timer.isEmpty()).isTrue();
    }

    @Test
    void aForwardStepOfTheStoresClockIsDecidedByThePolicyWithinAMinute() {
        this.one.start();
        put(this.one);
        advance(Duration.ofSeconds(5));

        this.step = Duration.ofHours(3).plusSeconds(30);
        advance(MINUTE);

        long next = minutes(1).get(0);
        long last = minutes(181).get(180);
        assertThat(this.one.sent.subList(0, 1)).containsExactly(last);
        assertThat(this.store.schedules().find(QUEUE, "minutely").join().skips().skips())
            .containsExactly(new ScheduleSkip(SkipReason.MISFIRE, Instant.ofEpochMilli(next),
                    Instant.ofEpochMilli(minutes(180).get(179)), 180));
        advance(MINUTE.multipliedBy(3));
        assertThat(this.one.sent).isSorted().doesNotHaveDuplicates().hasSize(4);
    }

    @Test
    void aBackwardStepOfTheStoresClockRepeatsNothingAndSendsNothingEarly() {
        this.one.start();
        put(this.one);
        advance(MINUTE);

        this.step = Duration.ofMinutes(-5);
        advance(MINUTE.multipliedBy(6).minusMillis(10));
        assertThat(sent()).isEqualTo(minutes(1));
        advance(Duration.ofMillis(10));

        assertThat(sent()).isEqualTo(minutes(2));
    }

    @Test
    void aDeclarationIsDecidedOnTheThreadOfSchedules() throws InterruptedException {
        this.one.schedules.declare(QUEUE, minutely(), "{}");
        this.one.found = new CompletableFuture<>();
        this.one.start();
        settle();
        Thread client = new Thread(() -> this.one.found.complete(this.store.schedules().find(QUEUE, "minutely").join()),
                "client");
        client.start();
        client.join();

        assertThat(this.one.changedBy).isNull();
        settle();
        assertThat(this.one.changedBy).isEqualTo(Thread.currentThread());
        assertThat(state()).isNotNull();
    }

    @Test
    void theTimesOfALossAreCountedWithABound() {
        ScheduleDefinition each = ScheduleDefinition.fixedRate("rate", Duration.ofMillis(100)).build();
        ScheduleDefinition cron = ScheduleDefinition.cron("cron", "* * * * * *").build();
        this.one.schedules.declare(QUEUE, each, "{}");
        this.one.schedules.declare(QUEUE, cron, "{}");
        this.one.start();
        settle();
        this.one.dead = true;
        this.store.clear();
        this.clock.advance(Duration.ofDays(10));

        this.one.dead = false;
        advance(MINUTE);

        assertThat(lost("rate").count()).isBetween(10 * 864_000L - 1, 10 * 864_000L + 600);
        assertThat(lost("cron").count()).isEqualTo(10_000);
    }

    private ScheduleSkip lost(String name) {
        List<ScheduleSkip> skips = this.store.schedules().find(QUEUE, name).join().skips().skips();
        return skips.stream().filter((skip) -> skip.reason() == SkipReason.DATA_LOSS).findFirst().orElseThrow();
    }

}
