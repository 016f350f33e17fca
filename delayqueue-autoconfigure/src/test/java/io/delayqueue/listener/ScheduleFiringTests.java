package io.delayqueue.listener;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.delayqueue.DelayQueueException.Effect;
import io.delayqueue.QueueName;
import io.delayqueue.ScheduleDefinition;
import io.delayqueue.SchedulePutResult;
import io.delayqueue.ScheduleSkip;
import io.delayqueue.SkipReason;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.listener.poll.ManualTimer;
import io.delayqueue.memory.InMemoryMessageStore;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.envelope.EnvelopeCodec;
import io.delayqueue.store.schedule.DeclarationResult;
import io.delayqueue.store.schedule.Firing;
import io.delayqueue.store.schedule.LocalSchedules;
import io.delayqueue.store.schedule.ScheduleChange;
import io.delayqueue.store.schedule.ScheduleChanger;
import io.delayqueue.store.schedule.ScheduleCursor;
import io.delayqueue.store.schedule.ScheduleRecord;
import io.delayqueue.store.schedule.ScheduleStep;
import io.delayqueue.store.schedule.ScheduleStore;
import io.delayqueue.store.schedule.StepOutcome;
import io.delayqueue.store.schedule.StoredSchedule;
import io.delayqueue.store.schedule.StoredSchedulePage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Verifies that each due occurrence is sent once by one of several nodes, and when. The
 * clock is moved by the test, and all nodes share it.
 */
@ExtendWith(OutputCaptureExtension.class)
class ScheduleFiringTests {

    private static final QueueName QUEUE = new QueueName("reports");

    private static final Duration SAFETY_POLL = Duration.ofSeconds(5);

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final ManualNanoClock clock = new ManualNanoClock();

    private final ManualTimer timer = new ManualTimer(this.clock);

    /** How far the clock of the store is ahead of that of the nodes. */
    private Duration step = Duration.ZERO;

    private final EnvelopeCodec codec = new EnvelopeCodec(JsonMapper.builder().build());

    private final InMemoryMessageStore store = new InMemoryMessageStore(this.codec,
            () -> Duration.between(Instant.EPOCH, this.clock.instant().plus(this.step)).toNanos()
                    / TimeUnit.MICROSECONDS.toNanos(1));

    private final Node one = new Node();

    private final Node two = new Node();

    private static ScheduleDefinition minutely() {
        return ScheduleDefinition.fixedRate("minutely", MINUTE).build();
    }

    private void put(Node node) {
        new ScheduleChanger(node.schedules).put(QUEUE, minutely(), node.schedules.codec().write(minutely(), "{}"))
            .join();
        settle();
    }

    /** Moves the clock, and answers calls at the time at which they are made. */
    private void advance(Duration time) {
        Duration step = Duration.ofMillis(10);
        for (Duration left = time; left.compareTo(Duration.ZERO) > 0; left = left.minus(step)) {
            this.timer.advance(step);
            settle();
        }
    }

    private void settle() {
        for (int i = 0; i < 6; i++) {
            this.timer.runDue();
        }
    }

    private ScheduleRecord state() {
        return this.store.schedules().find(QUEUE, "minutely").join().state();
    }

    private List<Long> sent() {
        List<Long> sent = new ArrayList<>(this.one.sent);
        sent.addAll(this.two.sent);
        return sent.stream().sorted().toList();
    }

    private static List<Long> minutes(int count) {
        List<Long> minutes = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            minutes.add(ManualNanoClock.START.plus(MINUTE.multipliedBy(i)).toEpochMilli());
        }
        return minutes;
    }

    @Test
    void aNodeSendsEachOccurrenceWhenItIsDueByTwoCalls() {
        this.one.start();
        put(this.one);
        int calls = this.one.calls;

        advance(MINUTE.minusMillis(10));
        assertThat(sent()).isEmpty();
        advance(Duration.ofMillis(10));

        assertThat(sent()).isEqualTo(minutes(1));
        advance(MINUTE);
        assertThat(sent()).isEqualTo(minutes(2));
        assertThat(this.one.calls - calls).isLessThanOrEqualTo(2 * 2 + 2); // reads each
                                                                           // minute
    }

    @Test
    void aQueueWithoutSchedulesIsReadOnceAMinute() {
        this.one.start();
        settle();

        advance(MINUTE.multipliedBy(10));

        assertThat(this.one.calls).isEqualTo(11);
    }

    @Test
    void ofSeveralNodesOneSends() {
        this.one.start();
        this.two.start();
        put(this.one);

        advance(MINUTE.multipliedBy(10));

        assertThat(sent()).isEqualTo(minutes(10));
        assertThat(this.two.sent).isEmpty();
    }

    @Test
    void anotherNodeTakesOverFromOneThatDied() {
        this.one.start();
        this.two.start();
        put(this.one);
        advance(MINUTE);
        this.one.dead = true;

        advance(MINUTE.plus(ScheduleFiring.STANDBY).plusMillis(20));

        assertThat(this.two.sent).isEqualTo(minutes(2).subList(1, 2));
        advance(MINUTE.multipliedBy(8));
        assertThat(sent()).isEqualTo(minutes(10));
    }

    @Test
    void aNodeThatStopsLetsAnotherOneContinue() {
        this.one.start();
        this.two.start();
        put(this.one);
        advance(MINUTE);

        this.one.firing.close();
        advance(Duration.ofSeconds(10));
        advance(MINUTE.minusSeconds(10));

        assertThat(this.two.sent).isEqualTo(minutes(2).subList(1, 2));
    }

    @Test
    void aChangeByAProcessThatDoesNotFireTheQueueLeavesTheFiringNode() {
        this.one.start();
        this.two.firing();
        put(this.one);
        ScheduleChanger changer = new ScheduleChanger(this.two.schedules);

        changer.pause(QUEUE, "minutely", true).join();
        changer.pause(QUEUE, "minutely", false).join();
        advance(MINUTE);
        assertThat(this.one.sent).isEqualTo(minutes(1));

        this.clock.advance(MINUTE);
        changer.pause(QUEUE, "minutely", true).join();
        assertThat(this.two.sent).isEqualTo(minutes(2).subList(1, 2));
        assertThat(this.store.schedules().fire(QUEUE, null, List.of()).join().firingNode())
            .isEqualTo(this.one.schedules.node());
    }

    @Test
    void aQueueThatWasRemovedIsLeftToOthersAndLeavesNothing() {
        this.one.start();
        this.two.start();
        put(this.two);
        advance(MINUTE.plusSeconds(1));
        assertThat(this.two.sent).hasSize(1);

        this.two.firing.remove(QUEUE);
        settle();
        int calls = this.two.calls;
        advance(MINUTE);
        assertThat(this.one.sent).isEqualTo(minutes(2).subList(1, 2));
        put(this.one);
        advance(MINUTE.multipliedBy(5));

        assertThat(this.two.calls).isEqualTo(calls);
        this.one.firing.remove(QUEUE);
        advance(Duration.ofSeconds(6));
        assertThat(this.timer.isEmpty()).isTrue();
        this.two.firing.add(QUEUE);
        advance(MINUTE);
        assertThat(sent()).hasSize(8);
    }

    @Test
    void aQueueToWhichThisProcessHasPutIsFiredWithoutItsListener() {
        this.one.start();
        this.one.schedules.put(QUEUE);
        put(this.one);

        this.one.firing.remove(QUEUE);
        advance(MINUTE);

        assertThat(this.one.sent).isEqualTo(minutes(1));
    }

    @Test
    void aPutDuringTheRemovalOfTheLastListenerIsFired() throws InterruptedException {
        assertFiredDuringRemoval(() -> this.one.schedules.put(QUEUE));
    }

    @Test
    void aDeclarationDuringTheRemovalOfTheLastListenerIsFired() throws InterruptedException {
        assertFiredDuringRemoval(() -> this.one.schedules.declare(QUEUE, minutely(), "{}"));
    }

    /**
     * Lets another thread add the queue while it is removed, after that was decided, as
     * far as the thread gets.
     */
    private void assertFiredDuringRemoval(Runnable addition) throws InterruptedException {
        Thread adding = new Thread(addition, "adding");
        this.one.firing = new ScheduleFiring(this.one.schedules, (partition, listener) -> () -> {
            if (adding.getState() == Thread.State.NEW) {
                adding.start();
                await().until(() -> adding.getState() == Thread.State.TERMINATED
                        || adding.getState() == Thread.State.BLOCKED);
            }
        }, this.timer, SAFETY_POLL, MessageEventRecorderFactory.NONE);
        this.one.firing.add(QUEUE);
        put(this.one);

        this.one.firing.remove(QUEUE);
        adding.join();
        settle();
        advance(MINUTE);

        assertThat(this.one.sent).isEqualTo(minutes(1));
    }

    @Test
    void aBacklogIsLeftToTheFiringNodeUntilThatDies() {
        this.one.start();
        this.two.start();
        put(this.one);
        for (int i = 0; i < 1_000; i++) {
            ScheduleDefinition definition = ScheduleDefinition.fixedRate("s" + i, MINUTE).build();
            new ScheduleChanger(this.one.schedules)
                .put(QUEUE, definition, this.one.schedules.codec().write(definition, "{}"))
                .join();
        }
        settle();
        this.one.latency = Duration.ofMillis(200);

        advance(MINUTE.plusSeconds(1));
        assertThat(this.one.sent).hasSizeBetween(300, 700);
        assertThat(this.two.attempts).isZero();

        this.one.dead = true;
        advance(SAFETY_POLL.plus(ScheduleFiring.STANDBY).plusSeconds(1));
        assertThat(this.two.attempts).isPositive();
        assertThat(sent()).hasSize(1_001);
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
    void aQueueThatWasPutToIsFiredWithoutAListener() {
        this.one.firing();
        this.one.schedules.put(QUEUE);
        put(this.one);

        advance(MINUTE);

        assertThat(sent()).isEqualTo(minutes(1));
    }

    @Test
    void aFurtherPutIsFiredInTimeWithoutSignals() {
        this.one.firing = new ScheduleFiring(this.one.schedules, (partition, listener) -> () -> {
        }, this.timer, SAFETY_POLL, MessageEventRecorderFactory.NONE);
        put(this.one);
        this.one.schedules.put(QUEUE);
        settle();
        ScheduleDefinition often = ScheduleDefinition.fixedRate("often", Duration.ofSeconds(10)).build();
        new ScheduleChanger(this.one.schedules).put(QUEUE, often, this.one.schedules.codec().write(often, "{}")).join();
        this.one.schedules.put(QUEUE);
        settle();

        advance(Duration.ofSeconds(10));

        assertThat(this.one.sent).containsExactly(ManualNanoClock.START.plusSeconds(10).toEpochMilli());
    }

    @Test
    void aScheduleThatAnotherNodePutsIsFiredByTheListeningNode() {
        this.one.start();
        put(this.two);

        advance(MINUTE);

        assertThat(this.one.sent).isEqualTo(minutes(1));
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

    @Test
    void aScheduleThatIsNotReadableDelaysNoOtherAndCanBePutAgain() {
        this.one.start();
        put(this.one);
        long due = ManualNanoClock.START.plusSeconds(31).toEpochMilli();
        this.store.schedules()
            .change(QUEUE,
                    new ScheduleChange("broken", null,
                            new ScheduleRecord(1, due, 0, due, 0, 0, false, "", "{\"fixedRate\":1}\n1"), null, null))
            .join();
        int calls = this.one.calls;

        for (int i = 1; i <= 10; i++) {
            advance(MINUTE);
            assertThat(sent()).isEqualTo(minutes(i));
        }
        assertThat(this.one.calls - calls).isLessThanOrEqualTo(10 * (2 + 2 + 1) + 2);

        ScheduleDefinition repaired = ScheduleDefinition.fixedRate("broken", MINUTE).build();
        assertThat(new ScheduleChanger(this.one.schedules)
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

    /** Represents a process that uses the store. */
    private final class Node implements ScheduleStore {

        private final LocalSchedules schedules = new LocalSchedules(this, ScheduleFiringTests.this.codec,
                LocalSchedules.MISFIRE_THRESHOLD, "reporting");

        private final List<Long> sent = new ArrayList<>();

        private ScheduleFiring firing;

        private int calls;

        /** Calls that try to advance schedules. */
        private int attempts;

        private int declarations;

        private Duration latency = Duration.ZERO;

        /** The answer to {@code find}; {@code null} for that of the store. */
        private @Nullable CompletableFuture<StoredSchedule> found;

        private @Nullable Thread changedBy;

        private boolean dead;

        private boolean losesReplies;

        /** Whether steps have no effect, and what is due remains. */
        private boolean ignoresSteps;

        private boolean hidesDue;

        private void firing() {
            this.firing = new ScheduleFiring(this.schedules, ScheduleFiringTests.this.store,
                    ScheduleFiringTests.this.timer, SAFETY_POLL, MessageEventRecorderFactory.NONE);
        }

        void start() {
            firing();
            this.firing.add(QUEUE);
        }

        private <T> CompletableFuture<T> away() {
            return CompletableFuture
                .failedFuture(new StoreUnavailableException("The store is away", Effect.UNKNOWN, null));
        }

        @Override
        public CompletableFuture<Firing> fire(QueueName queue, @Nullable String node, List<ScheduleStep> steps) {
            this.calls++;
            this.attempts += steps.isEmpty() ? 0 : 1;
            if (this.dead) {
                return away();
            }
            return answer(queue, node, steps).thenCompose(this::delayed);
        }

        private CompletableFuture<Firing> delayed(Firing answer) {
            CompletableFuture<Firing> delayed = new CompletableFuture<>();
            if (this.latency.isZero()) {
                delayed.complete(answer);
            }
            else {
                ScheduleFiringTests.this.timer.after(this.latency, () -> delayed.complete(answer));
            }
            return delayed;
        }

        private CompletableFuture<Firing> answer(QueueName queue, @Nullable String node, List<ScheduleStep> steps) {
            if (this.ignoresSteps || this.hidesDue) {
                List<StepOutcome> stale = steps.stream().map((step) -> StepOutcome.STALE).toList();
                return ScheduleFiringTests.this.store.schedules()
                    .fire(queue, node, List.of())
                    .thenApply((answer) -> new Firing(answer.now(), answer.nextAt(), answer.firingNode(),
                            answer.firedAt(), answer.count(), stale, this.hidesDue ? Map.of() : answer.due()));
            }
            return ScheduleFiringTests.this.store.schedules().fire(queue, node, steps).thenCompose((answer) -> {
                for (int i = 0; i < steps.size(); i++) {
                    if (answer.outcomes().get(i).equals(StepOutcome.SENT)) {
                        this.sent.add(steps.get(i).next());
                    }
                }
                return this.losesReplies ? away() : CompletableFuture.completedFuture(answer);
            });
        }

        @Override
        public CompletableFuture<Boolean> resign(QueueName queue, String node) {
            return ScheduleFiringTests.this.store.schedules().resign(queue, node);
        }

        @Override
        public CompletableFuture<Boolean> change(QueueName queue, ScheduleChange change) {
            this.changedBy = Thread.currentThread();
            return ScheduleFiringTests.this.store.schedules().change(queue, change);
        }

        @Override
        public CompletableFuture<DeclarationResult> declare(QueueName queue, String owner, boolean removes,
                Map<String, String> fingerprints) {
            this.declarations++;
            if (this.dead) {
                return away();
            }
            return ScheduleFiringTests.this.store.schedules().declare(queue, owner, removes, fingerprints);
        }

        @Override
        public CompletableFuture<StoredSchedule> find(QueueName queue, String name) {
            return (this.found != null) ? this.found : ScheduleFiringTests.this.store.schedules().find(queue, name);
        }

        @Override
        public CompletableFuture<StoredSchedulePage> list(QueueName queue, ScheduleCursor after, int limit) {
            return ScheduleFiringTests.this.store.schedules().list(queue, after, limit);
        }

    }

}
