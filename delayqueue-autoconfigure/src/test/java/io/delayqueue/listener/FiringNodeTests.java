package io.delayqueue.listener;

import java.time.Duration;
import java.util.List;

import io.delayqueue.ScheduleDefinition;
import io.delayqueue.fixtures.ManualNanoClock;
import io.delayqueue.store.MessageEventRecorderFactory;
import io.delayqueue.store.Partition;
import io.delayqueue.store.WakeUps;
import io.delayqueue.store.schedule.OccurrenceEvents;
import io.delayqueue.store.schedule.ScheduleChanger;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Verifies which node fires the schedules of a queue: one of those that listen to it, or
 * that have put or declared some.
 */
class FiringNodeTests extends ScheduleFiringBed {

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
        ScheduleChanger changer = new ScheduleChanger(this.two.schedules, OccurrenceEvents.NONE);

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
        }, this.timer, Runnable::run, SAFETY_POLL, MessageEventRecorderFactory.NONE);
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
            new ScheduleChanger(this.one.schedules, OccurrenceEvents.NONE)
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
        }, this.timer, Runnable::run, SAFETY_POLL, MessageEventRecorderFactory.NONE);
        put(this.one);
        this.one.schedules.put(QUEUE);
        settle();
        ScheduleDefinition often = ScheduleDefinition.fixedRate("often", Duration.ofSeconds(10)).build();
        new ScheduleChanger(this.one.schedules, OccurrenceEvents.NONE)
            .put(QUEUE, often, this.one.schedules.codec().write(often, "{}"))
            .join();
        this.one.schedules.put(QUEUE);
        settle();

        advance(Duration.ofSeconds(10));

        assertThat(this.one.sent).containsExactly(ManualNanoClock.START.plusSeconds(10).toEpochMilli());
    }

    /** For a signal, the former firing node reads at once, and other nodes read later. */
    @Test
    void aPutByANodeThatIsNotTheFiringOneIsFiredInTime() {
        this.one.start();
        put(this.one);
        this.two.firing = new ScheduleFiring(this.two.schedules, new WakeUps() {

            @Override
            public Subscription listen(Partition partition, Listener listener) {
                return FiringNodeTests.this.store.listen(partition, listener);
            }

            @Override
            public boolean announcesPrimaryPollers() {
                return true;
            }

        }, this.timer, Runnable::run, SAFETY_POLL, MessageEventRecorderFactory.NONE);
        this.two.firing.add(QUEUE);
        advance(Duration.ofSeconds(1));

        put(this.two, ScheduleDefinition.fixedRate("often", Duration.ofMillis(200)).build());
        this.two.schedules.put(QUEUE);
        advance(Duration.ofMillis(200));

        assertThat(this.two.sent).containsExactly(ManualNanoClock.START.plusMillis(1200).toEpochMilli());
    }

    @Test
    void aScheduleThatAnotherNodePutsIsFiredByTheListeningNode() {
        this.one.start();
        put(this.two);

        advance(MINUTE);

        assertThat(this.one.sent).isEqualTo(minutes(1));
    }

}
