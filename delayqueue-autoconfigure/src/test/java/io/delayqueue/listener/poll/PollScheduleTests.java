package io.delayqueue.listener.poll;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PrimaryPollerBid;
import io.delayqueue.store.WakeUpSignal;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests P3: the primary poller polls when a message is due, standby nodes a grace later,
 * and all at least once per safety poll; claims and signals determine the primary poller.
 */
class PollScheduleTests {

    private static final Duration SAFETY_POLL = Duration.ofSeconds(5);

    private static final WakeUpSignal.PrimaryPoller OTHER = new WakeUpSignal.PrimaryPoller("other", 1);

    private long nanoTime;

    private final PrimaryPartitions primaryPartitions = new PrimaryPartitions(SAFETY_POLL, () -> this.nanoTime);

    private final PollSchedule schedule = new PollSchedule(TestBed.QUEUE, SAFETY_POLL, this.primaryPartitions,
            () -> 0.5);

    @Test
    void pollsAtOnceAndBidsForThePartition() {
        assertThat(this.schedule.nextAt()).isZero();
        assertThat(this.schedule.poll(0)).isEqualTo(this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0));
    }

    @Test
    void thePrimaryPollerPollsWhenAMessageIsDue() {
        find(ms(0), Duration.ofSeconds(3), true);

        assertThat(this.schedule.nextAt()).isEqualTo(ms(3000));
        assertThat(this.schedule.isPrimary()).isTrue();
        assertThat(this.primaryPartitions.count()).isOne();
    }

    @Test
    void standbyNodesPollAGraceLater() {
        find(ms(0), Duration.ofSeconds(3), false);

        assertThat(this.schedule.nextAt()).isEqualTo(ms(3600));
        assertThat(this.schedule.isPrimary()).isFalse();
        assertThat(this.primaryPartitions.count()).isZero();
    }

    @Test
    void withoutPrimaryPollersEachNodePollsAtOnce() {
        PollSchedule lone = new PollSchedule(TestBed.QUEUE, SAFETY_POLL, null, () -> 0.5);
        assertThat(lone.poll(0)).isNull();
        lone.found(claim(Duration.ofSeconds(3), false), null, 0, 0);

        assertThat(lone.nextAt()).isEqualTo(ms(3000));
        lone.onWakeUp(WakeUpSignal.primaryPolled(null, OTHER), ms(1));
        lone.onWakeUp(WakeUpSignal.NO_PRIMARY, ms(1));
        assertThat(lone.nextAt()).isEqualTo(ms(3000));
    }

    @Test
    void aPrimaryPollerPollsASafetyPollAfterItsLastPollAndBeforeStandbyNodes() {
        find(ms(0), null, true);
        long primary = this.schedule.nextAt();
        find(primary, null, false);

        assertThat(primary).isBetween(ms(4000), ms(4250));
        assertThat(this.schedule.nextAt() - primary).isBetween(ms(4750), ms(5000));
    }

    @Test
    void aSignalOfADueMessageMakesTheNextPollEarlier() {
        find(ms(0), Duration.ofSeconds(3), true);

        assertThat(this.schedule.onWakeUp(WakeUpSignal.dueIn(Duration.ofSeconds(1), null), ms(500))).isTrue();
        assertThat(this.schedule.onWakeUp(WakeUpSignal.dueIn(Duration.ofSeconds(2), null), ms(500))).isFalse();
        assertThat(this.schedule.nextAt()).isEqualTo(ms(1500));
    }

    /**
     * The span of a signal counts from when it arrives, so it is late by its
     * transmission.
     */
    @Test
    void aSignalWithTheStoresTimeIsNotDelayedByItsTransmission() {
        find(ms(100), null, true);

        this.schedule.onWakeUp(WakeUpSignal.dueIn(Duration.ofSeconds(1), Instant.ofEpochMilli(1050)), ms(200));
        assertThat(this.schedule.nextAt()).isEqualTo(ms(1150));
    }

    /** The clock of the store may have been set since the last poll. */
    @Test
    void aSignalIsNotLaterThanItsSpan() {
        find(ms(100), null, true);

        this.schedule.onWakeUp(WakeUpSignal.dueIn(Duration.ofSeconds(1), Instant.ofEpochMilli(3_600_000)), ms(200));
        assertThat(this.schedule.nextAt()).isEqualTo(ms(1200));
    }

    @Test
    void aSignalBeforeTheFirstAnswerCountsItsSpan() {
        this.schedule.poll(0);
        this.schedule.onWakeUp(WakeUpSignal.dueIn(Duration.ofSeconds(1), Instant.ofEpochMilli(10)), 0);
        this.schedule.found(claim(null, true), this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0), ms(1),
                ms(1));

        assertThat(this.schedule.nextAt()).isEqualTo(ms(1000));
    }

    @Test
    void theTimeUntilTheNextPollCountsFromTheFastestCall() {
        this.schedule.poll(0);
        this.schedule.found(claim(Duration.ofSeconds(1), true),
                this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0), ms(30), ms(10));

        assertThat(this.schedule.nextAt()).isEqualTo(ms(1010));
    }

    /** Otherwise a slow store is polled without a pause. */
    @Test
    void theSafetyPollCountsFromTheAnswer() {
        this.schedule.poll(0);
        this.schedule.found(claim(null, true), this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0), ms(4500),
                ms(10));

        assertThat(this.schedule.nextAt()).isGreaterThan(ms(8500));
    }

    @Test
    void aSignalThatArrivesDuringAPollIsKept() {
        this.schedule.poll(0);
        this.schedule.onWakeUp(WakeUpSignal.dueIn(Duration.ofSeconds(1), null), 0);
        this.schedule.found(claim(Duration.ofSeconds(3), true),
                this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0), ms(1), ms(1));

        assertThat(this.schedule.nextAt()).isEqualTo(ms(1000));
    }

    @Test
    void allNodesPollAtOnceForMessagesThatMayHaveBeenMissed() {
        find(ms(0), null, false);
        this.schedule.poll(ms(10));

        assertThat(this.schedule.onWakeUp(WakeUpSignal.POLL_NOW, ms(11))).isTrue();
        this.schedule.found(claim(null, false), null, ms(12), ms(12));

        assertThat(this.schedule.nextAt()).isZero();
    }

    @Test
    void aFailedPollIsRepeated() {
        this.schedule.poll(0);
        this.schedule.failed();

        assertThat(this.schedule.nextAt()).isZero();
    }

    @Test
    void aPollOfThePrimaryPollerMakesAnotherNeedless() {
        find(ms(0), Duration.ofSeconds(1), false);
        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(null, OTHER), ms(1001));

        assertThat(this.schedule.nextAt()).isBetween(ms(1001 + 4750), ms(1001 + 5000));

        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(Duration.ofSeconds(1), OTHER), ms(2001));
        assertThat(this.schedule.nextAt()).isEqualTo(ms(3601));
    }

    @Test
    void aNodeThatLeavesDueMessagesBehindPollsAgainAtOnceInEachRole() {
        find(ms(0), Duration.ZERO, false);

        assertThat(this.schedule.nextAt()).isZero();
        assertThat(this.schedule.isPrimary()).isFalse();

        find(ms(10), Duration.ofSeconds(3), false);
        assertThat(this.schedule.nextAt()).isEqualTo(ms(3610));
    }

    @Test
    void aPrimaryPollerThatIsBehindMakesStandbyNodesPollEarlierAndNeverLater() {
        find(ms(0), Duration.ofSeconds(3), false);

        assertThat(this.schedule.onWakeUp(WakeUpSignal.primaryPolled(Duration.ZERO, OTHER), ms(100))).isTrue();
        assertThat(this.schedule.nextAt()).isEqualTo(ms(105));
        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(Duration.ZERO, OTHER), ms(104));
        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(Duration.ZERO, OTHER), ms(200));
        assertThat(this.schedule.nextAt()).isEqualTo(ms(105));

        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(Duration.ofSeconds(1), OTHER), ms(300));
        assertThat(this.schedule.nextAt()).isEqualTo(ms(1900));
    }

    @Test
    void aPrimaryPollerThatReceivesTheAnnouncementOfAnotherBecomesAStandbyNode() {
        find(ms(0), Duration.ofSeconds(3), true);
        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(Duration.ofSeconds(3), OTHER), ms(0));

        assertThat(this.schedule.isPrimary()).isFalse();
        assertThat(this.primaryPartitions.count()).isZero();
        assertThat(this.schedule.nextAt()).isEqualTo(ms(3600));
    }

    @Test
    void itsOwnAnnouncementCountsAsTheLatest() {
        find(ms(0), Duration.ofSeconds(3), true);
        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(null, OTHER), ms(0));
        this.schedule.onWakeUp(
                WakeUpSignal.primaryPolled(null, new WakeUpSignal.PrimaryPoller(this.primaryPartitions.node(), 1)),
                ms(0));

        assertThat(this.schedule.isPrimary()).isTrue();
        assertThat(this.primaryPartitions.count()).isOne();
    }

    @Test
    void withNoPrimaryPollerAllNodesPollSoonAndNotAtOneTime() {
        find(ms(0), Duration.ofSeconds(3), false);
        this.schedule.onWakeUp(WakeUpSignal.NO_PRIMARY, ms(10));

        assertThat(this.schedule.nextAt()).isEqualTo(ms(3005));
        assertThat(this.schedule.poll(ms(20))).isEqualTo(this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0));
    }

    @Test
    void aNodeThatResignedPollsFirstIfItCan() {
        find(ms(0), Duration.ofSeconds(3), true);
        this.schedule.resign();
        this.schedule.onWakeUp(WakeUpSignal.NO_PRIMARY, ms(1));

        assertThat(this.schedule.isPrimary()).isFalse();
        assertThat(this.schedule.nextAt()).isEqualTo(ms(3000));
    }

    @Test
    void aPrimaryPollerAnnouncesAtMostTenTimesASecondAndBeforeStandbyNodesPoll() {
        find(ms(0), Duration.ofMillis(20), true);

        assertThat(this.schedule.poll(ms(20))).isEqualTo(this.primaryPartitions.bid(PrimaryPollerBid.Kind.RENEW, 0));
        this.schedule.found(claim(null, true), this.primaryPartitions.bid(PrimaryPollerBid.Kind.RENEW, 0), ms(20),
                ms(20));
        assertThat(this.schedule.nextAt()).isEqualTo(ms(270));

        assertThat(this.schedule.poll(ms(270))).isEqualTo(this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0));
        this.schedule.found(claim(null, true), this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0), ms(270),
                ms(270));
        assertThat(this.schedule.nextAt()).isGreaterThan(ms(4000));
    }

    @Test
    void takesAPartitionFromANodeWithTwoMoreButOneASecond() {
        PollSchedule second = new PollSchedule(new Partition(TestBed.QUEUE.queue(), 1), SAFETY_POLL,
                this.primaryPartitions, () -> 0.5);
        find(ms(0), null, false);
        second.poll(0);
        second.found(claim(null, false), this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0), 0, 0);

        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(null, new WakeUpSignal.PrimaryPoller("rich", 2)), ms(10));
        second.onWakeUp(WakeUpSignal.primaryPolled(null, new WakeUpSignal.PrimaryPoller("rich", 2)), ms(10));

        assertThat(this.schedule.nextAt()).isEqualTo(ms(135));
        assertThat(second.nextAt()).isGreaterThan(ms(4000));
        assertThat(this.schedule.poll(ms(135)))
            .isEqualTo(this.primaryPartitions.bid(PrimaryPollerBid.Kind.REBALANCE, 0));
        assertThat(this.schedule.nextAt()).isGreaterThan(ms(4000));

        this.nanoTime += ms(1000);
        second.onWakeUp(WakeUpSignal.primaryPolled(null, new WakeUpSignal.PrimaryPoller("rich", 2)), ms(1010));
        assertThat(second.nextAt()).isEqualTo(ms(1135));
    }

    @Test
    void aPartitionWithTwoListenersCountsOnce() {
        PollSchedule second = new PollSchedule(TestBed.QUEUE, SAFETY_POLL, this.primaryPartitions, () -> 0.5);
        find(ms(0), null, true);
        assertThat(second.poll(0)).isEqualTo(this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0));
        second.found(claim(null, true), this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0), 0, 0);
        assertThat(this.primaryPartitions.count()).isOne();

        second.onWakeUp(WakeUpSignal.primaryPolled(null, OTHER), ms(1));
        assertThat(this.primaryPartitions.count()).isOne();
        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(null, OTHER), ms(1));
        assertThat(this.primaryPartitions.count()).isZero();
    }

    @Test
    void takesNoPartitionFromANodeWithOneMore() {
        find(ms(0), null, false);
        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(null, OTHER), ms(10));

        assertThat(this.schedule.nextAt()).isGreaterThan(ms(4000));
    }

    @Test
    void theEarliestSignalDuringAPollCounts() {
        this.schedule.poll(0);
        this.schedule.onWakeUp(WakeUpSignal.dueIn(Duration.ofSeconds(1), null), 0);
        this.schedule.onWakeUp(WakeUpSignal.dueIn(Duration.ofSeconds(2), null), 0);
        this.schedule.found(claim(null, true), this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0), ms(1),
                ms(1));

        assertThat(this.schedule.nextAt()).isEqualTo(ms(1000));
    }

    @Test
    void aSignalBeforeThePollIsForgotten() {
        find(ms(0), Duration.ofSeconds(3), true);
        this.schedule.onWakeUp(WakeUpSignal.dueIn(Duration.ofSeconds(1), null), ms(500));
        find(ms(1500), Duration.ofSeconds(3), true);

        assertThat(this.schedule.nextAt()).isEqualTo(ms(4500));
    }

    @Test
    void withoutPrimaryPollersThereIsNoRoleToChange() {
        PollSchedule lone = new PollSchedule(TestBed.QUEUE, SAFETY_POLL, null, () -> 0.5);
        lone.poll(0);
        lone.found(claim(Duration.ofSeconds(3), false), null, 0, 0);

        assertThat(lone.isPrimary()).isFalse();
    }

    @Test
    void aPrimaryPollerThatLosesThePartitionHasNothingToAnnounce() {
        find(ms(0), Duration.ofMillis(20), true);
        this.schedule.poll(ms(20));
        this.schedule.found(claim(null, true), this.primaryPartitions.bid(PrimaryPollerBid.Kind.RENEW, 0), ms(20),
                ms(20));
        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(null, OTHER), ms(30));

        assertThat(this.schedule.nextAt()).isGreaterThan(ms(4000));
    }

    @Test
    void aNodeThatBecomesPrimaryPollerTakesNoPartitionAnymore() {
        WakeUpSignal.PrimaryPoller self = new WakeUpSignal.PrimaryPoller(this.primaryPartitions.node(), 1);
        find(ms(0), null, false);
        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(null, new WakeUpSignal.PrimaryPoller("rich", 2)), ms(10));
        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(null, self), ms(20));

        assertThat(this.schedule.nextAt()).isGreaterThan(ms(4000));
    }

    @Test
    void aPollBeforeTheTimeToShareDoesNotShare() {
        find(ms(0), null, false);
        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(null, new WakeUpSignal.PrimaryPoller("rich", 2)), ms(10));

        assertThat(this.schedule.poll(ms(130))).isEqualTo(this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0));
        assertThat(this.schedule.nextAt()).isGreaterThan(ms(4000));
    }

    @Test
    void sharesThoughItHasBidAMomentAgo() {
        find(ms(100), null, false);
        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(null, new WakeUpSignal.PrimaryPoller("rich", 2)), ms(0));
        assertThat(this.schedule.nextAt()).isEqualTo(ms(125));

        assertThat(this.schedule.poll(ms(125)))
            .isEqualTo(this.primaryPartitions.bid(PrimaryPollerBid.Kind.REBALANCE, 0));
    }

    @Test
    void aStandbyNodeBidsAtMostTenTimesASecond() {
        find(ms(0), Duration.ZERO, false);

        assertThat(this.schedule.poll(ms(99))).isNull();
        this.schedule.found(claim(null, false), null, ms(99), ms(99));
        assertThat(this.schedule.nextAt()).isGreaterThan(ms(4000));
        assertThat(this.schedule.poll(ms(100))).isEqualTo(this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0));
    }

    @Test
    void withNoPrimaryPollerItBidsThoughItHasAMomentAgo() {
        find(ms(0), null, false);
        this.schedule.onWakeUp(WakeUpSignal.NO_PRIMARY, ms(10));

        assertThat(this.schedule.poll(ms(20))).isEqualTo(this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0));
    }

    @Test
    void thePauseBetweenAnnouncementsCountsFromTheFirstUnannouncedPoll() {
        find(ms(0), Duration.ofMillis(20), true);
        for (long at = 20; at <= 80; at += 30) {
            assertThat(this.schedule.poll(ms(at)))
                .isEqualTo(this.primaryPartitions.bid(PrimaryPollerBid.Kind.RENEW, 0));
            this.schedule.found(claim(null, true), this.primaryPartitions.bid(PrimaryPollerBid.Kind.RENEW, 0), ms(at),
                    ms(at));
        }

        assertThat(this.schedule.nextAt()).isEqualTo(ms(270));
    }

    @Test
    void aPrimaryPollerBidsWithTheNumberOfItsOtherPartitions() {
        find(ms(0), null, true);
        this.primaryPartitions.add(new Partition(TestBed.QUEUE.queue(), 1));
        this.primaryPartitions.add(new Partition(TestBed.QUEUE.queue(), 2));

        assertThat(this.schedule.poll(ms(200))).isEqualTo(this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 2));
    }

    @Test
    void aRepeatedAnnouncementCountsOnce() {
        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(null, OTHER), ms(0));
        this.schedule.onWakeUp(WakeUpSignal.primaryPolled(null, OTHER), ms(1));
        assertThat(this.primaryPartitions.count()).isZero();

        WakeUpSignal own = WakeUpSignal.primaryPolled(null,
                new WakeUpSignal.PrimaryPoller(this.primaryPartitions.node(), 1));
        this.schedule.onWakeUp(own, ms(2));
        this.schedule.onWakeUp(own, ms(3));
        assertThat(this.primaryPartitions.count()).isOne();
    }

    @Test
    void safetyPollsOfNodesDriftApart() {
        for (boolean primary : new boolean[] { true, false }) {
            assertThat(emptyPoll(primary, 1)).isLessThan(emptyPoll(primary, 0)).isGreaterThan(ms(3900));
        }
    }

    private long emptyPoll(boolean primary, double random) {
        PollSchedule schedule = new PollSchedule(TestBed.QUEUE, SAFETY_POLL, this.primaryPartitions, () -> random);
        schedule.poll(0);
        schedule.found(claim(null, primary), this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0), 0, 0);
        return schedule.nextAt();
    }

    private void find(long at, @Nullable Duration nextIn, boolean primary) {
        this.schedule.poll(at);
        this.schedule.found(claim(nextIn, primary), this.primaryPartitions.bid(PrimaryPollerBid.Kind.ACQUIRE, 0), at,
                at);
    }

    private static ClaimResult claim(@Nullable Duration nextIn, boolean primary) {
        Instant now = Instant.EPOCH;
        return new ClaimResult(List.of(), now, (nextIn != null) ? now.plus(nextIn) : null, 0, List.of(), 0, primary);
    }

    private static long ms(long millis) {
        return millis * 1_000_000;
    }

}
