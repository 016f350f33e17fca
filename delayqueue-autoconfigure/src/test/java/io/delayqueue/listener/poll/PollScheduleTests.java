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

    private static final WakeUpSignal.Keeper OTHER = new WakeUpSignal.Keeper("other", 1);

    private long nanoTime;

    private final PrimaryPartitions kept = new PrimaryPartitions(SAFETY_POLL, () -> this.nanoTime);

    private final PollSchedule lookout = new PollSchedule(TestBed.QUEUE, SAFETY_POLL, this.kept, () -> 0.5);

    @Test
    void looksAtOnceAndBidsForThePartition() {
        assertThat(this.lookout.nextAt()).isZero();
        assertThat(this.lookout.look(0)).isEqualTo(this.kept.bid(PrimaryPollerBid.Kind.CONFIRM, 0));
    }

    @Test
    void theKeeperLooksWhenAMessageIsDue() {
        find(ms(0), Duration.ofSeconds(3), true);

        assertThat(this.lookout.nextAt()).isEqualTo(ms(3000));
        assertThat(this.lookout.isKeeper()).isTrue();
        assertThat(this.kept.count()).isOne();
    }

    @Test
    void othersLookAGraceLater() {
        find(ms(0), Duration.ofSeconds(3), false);

        assertThat(this.lookout.nextAt()).isEqualTo(ms(3600));
        assertThat(this.lookout.isKeeper()).isFalse();
        assertThat(this.kept.count()).isZero();
    }

    @Test
    void withoutKeepersEverybodyHurries() {
        PollSchedule lone = new PollSchedule(TestBed.QUEUE, SAFETY_POLL, null, () -> 0.5);
        assertThat(lone.look(0)).isNull();
        lone.found(claim(Duration.ofSeconds(3), false), null, 0);

        assertThat(lone.nextAt()).isEqualTo(ms(3000));
        lone.heard(WakeUpSignal.kept(null, OTHER), ms(1));
        lone.heard(WakeUpSignal.VACANT, ms(1));
        assertThat(lone.nextAt()).isEqualTo(ms(3000));
    }

    @Test
    void aKeeperLooksASafetyPollAfterItsLastLookAndBeforeTheOthersDo() {
        find(ms(0), null, true);
        long keeper = this.lookout.nextAt();
        find(keeper, null, false);

        assertThat(keeper).isBetween(ms(4000), ms(4250));
        assertThat(this.lookout.nextAt() - keeper).isBetween(ms(4750), ms(5000));
    }

    @Test
    void aSignalOfADueMessageMakesTheNextLookEarlier() {
        find(ms(0), Duration.ofSeconds(3), true);

        assertThat(this.lookout.heard(WakeUpSignal.due(Duration.ofSeconds(1)), ms(500))).isTrue();
        assertThat(this.lookout.heard(WakeUpSignal.due(Duration.ofSeconds(2)), ms(500))).isFalse();
        assertThat(this.lookout.nextAt()).isEqualTo(ms(1500));
    }

    @Test
    void aSignalThatCameWhileItLookedIsKept() {
        this.lookout.look(0);
        this.lookout.heard(WakeUpSignal.due(Duration.ofSeconds(1)), 0);
        this.lookout.found(claim(Duration.ofSeconds(3), true), this.kept.bid(PrimaryPollerBid.Kind.CONFIRM, 0), ms(1));

        assertThat(this.lookout.nextAt()).isEqualTo(ms(1000));
    }

    @Test
    void whatMayHaveBeenMissedIsLookedForAtOnceByAll() {
        find(ms(0), null, false);
        this.lookout.look(ms(10));

        assertThat(this.lookout.heard(WakeUpSignal.LOOK, ms(11))).isTrue();
        this.lookout.found(claim(null, false), null, ms(12));

        assertThat(this.lookout.nextAt()).isZero();
    }

    @Test
    void aLookThatFailedIsMadeAgain() {
        this.lookout.look(0);
        this.lookout.failed();

        assertThat(this.lookout.nextAt()).isZero();
    }

    @Test
    void aLookOfTheKeeperMakesAnotherNeedless() {
        find(ms(0), Duration.ofSeconds(1), false);
        this.lookout.heard(WakeUpSignal.kept(null, OTHER), ms(1001));

        assertThat(this.lookout.nextAt()).isBetween(ms(1001 + 4750), ms(1001 + 5000));

        this.lookout.heard(WakeUpSignal.kept(Duration.ofSeconds(1), OTHER), ms(2001));
        assertThat(this.lookout.nextAt()).isEqualTo(ms(3601));
    }

    @Test
    void whoLeavesDueMessagesBehindLooksAgainAtOnceWhoeverKeeps() {
        find(ms(0), Duration.ZERO, false);

        assertThat(this.lookout.nextAt()).isZero();
        assertThat(this.lookout.isKeeper()).isFalse();

        find(ms(10), Duration.ofSeconds(3), false);
        assertThat(this.lookout.nextAt()).isEqualTo(ms(3610));
    }

    @Test
    void aKeeperThatIsBehindHasTheOthersHurryAndNeverMakesThemLater() {
        find(ms(0), Duration.ofSeconds(3), false);

        assertThat(this.lookout.heard(WakeUpSignal.kept(Duration.ZERO, OTHER), ms(100))).isTrue();
        assertThat(this.lookout.nextAt()).isEqualTo(ms(105));
        this.lookout.heard(WakeUpSignal.kept(Duration.ZERO, OTHER), ms(104));
        this.lookout.heard(WakeUpSignal.kept(Duration.ZERO, OTHER), ms(200));
        assertThat(this.lookout.nextAt()).isEqualTo(ms(105));

        this.lookout.heard(WakeUpSignal.kept(Duration.ofSeconds(1), OTHER), ms(300));
        assertThat(this.lookout.nextAt()).isEqualTo(ms(1900));
    }

    @Test
    void aKeeperThatHearsOfAnotherIsOneNoMore() {
        find(ms(0), Duration.ofSeconds(3), true);
        this.lookout.heard(WakeUpSignal.kept(Duration.ofSeconds(3), OTHER), ms(0));

        assertThat(this.lookout.isKeeper()).isFalse();
        assertThat(this.kept.count()).isZero();
        assertThat(this.lookout.nextAt()).isEqualTo(ms(3600));
    }

    @Test
    void itsOwnWordCountsAsTheLastThatWasHeard() {
        find(ms(0), Duration.ofSeconds(3), true);
        this.lookout.heard(WakeUpSignal.kept(null, OTHER), ms(0));
        this.lookout.heard(WakeUpSignal.kept(null, new WakeUpSignal.Keeper(this.kept.node(), 1)), ms(0));

        assertThat(this.lookout.isKeeper()).isTrue();
        assertThat(this.kept.count()).isOne();
    }

    @Test
    void withNoKeeperAllHurryAndNotAtOneTime() {
        find(ms(0), Duration.ofSeconds(3), false);
        this.lookout.heard(WakeUpSignal.VACANT, ms(10));

        assertThat(this.lookout.nextAt()).isEqualTo(ms(3005));
        assertThat(this.lookout.look(ms(20))).isEqualTo(this.kept.bid(PrimaryPollerBid.Kind.CONFIRM, 0));
    }

    @Test
    void whoResignsLooksFirstIfItCan() {
        find(ms(0), Duration.ofSeconds(3), true);
        this.lookout.resign();
        this.lookout.heard(WakeUpSignal.VACANT, ms(1));

        assertThat(this.lookout.isKeeper()).isFalse();
        assertThat(this.lookout.nextAt()).isEqualTo(ms(3000));
    }

    @Test
    void aKeeperTellsAtMostTenTimesASecondAndBeforeTheOthersLook() {
        find(ms(0), Duration.ofMillis(20), true);

        assertThat(this.lookout.look(ms(20))).isEqualTo(this.kept.bid(PrimaryPollerBid.Kind.HOLD, 0));
        this.lookout.found(claim(null, true), this.kept.bid(PrimaryPollerBid.Kind.HOLD, 0), ms(20));
        assertThat(this.lookout.nextAt()).isEqualTo(ms(270));

        assertThat(this.lookout.look(ms(270))).isEqualTo(this.kept.bid(PrimaryPollerBid.Kind.CONFIRM, 0));
        this.lookout.found(claim(null, true), this.kept.bid(PrimaryPollerBid.Kind.CONFIRM, 0), ms(270));
        assertThat(this.lookout.nextAt()).isGreaterThan(ms(4000));
    }

    @Test
    void takesAPartitionFromWhoKeepsTwoMoreButOneASecond() {
        PollSchedule second = new PollSchedule(new Partition(TestBed.QUEUE.queue(), 1), SAFETY_POLL, this.kept,
                () -> 0.5);
        find(ms(0), null, false);
        second.look(0);
        second.found(claim(null, false), this.kept.bid(PrimaryPollerBid.Kind.CONFIRM, 0), 0);

        this.lookout.heard(WakeUpSignal.kept(null, new WakeUpSignal.Keeper("rich", 2)), ms(10));
        second.heard(WakeUpSignal.kept(null, new WakeUpSignal.Keeper("rich", 2)), ms(10));

        assertThat(this.lookout.nextAt()).isEqualTo(ms(135));
        assertThat(second.nextAt()).isGreaterThan(ms(4000));
        assertThat(this.lookout.look(ms(135))).isEqualTo(this.kept.bid(PrimaryPollerBid.Kind.SHARE, 0));
        assertThat(this.lookout.nextAt()).isGreaterThan(ms(4000));

        this.nanoTime += ms(1000);
        second.heard(WakeUpSignal.kept(null, new WakeUpSignal.Keeper("rich", 2)), ms(1010));
        assertThat(second.nextAt()).isEqualTo(ms(1135));
    }

    @Test
    void aPartitionThatTwoListenersKeepCountsOnce() {
        PollSchedule second = new PollSchedule(TestBed.QUEUE, SAFETY_POLL, this.kept, () -> 0.5);
        find(ms(0), null, true);
        assertThat(second.look(0)).isEqualTo(this.kept.bid(PrimaryPollerBid.Kind.CONFIRM, 0));
        second.found(claim(null, true), this.kept.bid(PrimaryPollerBid.Kind.CONFIRM, 0), 0);
        assertThat(this.kept.count()).isOne();

        second.heard(WakeUpSignal.kept(null, OTHER), ms(1));
        assertThat(this.kept.count()).isOne();
        this.lookout.heard(WakeUpSignal.kept(null, OTHER), ms(1));
        assertThat(this.kept.count()).isZero();
    }

    @Test
    void takesNoPartitionFromWhoKeepsOneMore() {
        find(ms(0), null, false);
        this.lookout.heard(WakeUpSignal.kept(null, OTHER), ms(10));

        assertThat(this.lookout.nextAt()).isGreaterThan(ms(4000));
    }

    @Test
    void ofSignalsThatCameWhileItLookedTheEarliestCounts() {
        this.lookout.look(0);
        this.lookout.heard(WakeUpSignal.due(Duration.ofSeconds(1)), 0);
        this.lookout.heard(WakeUpSignal.due(Duration.ofSeconds(2)), 0);
        this.lookout.found(claim(null, true), this.kept.bid(PrimaryPollerBid.Kind.CONFIRM, 0), ms(1));

        assertThat(this.lookout.nextAt()).isEqualTo(ms(1000));
    }

    @Test
    void aSignalOfBeforeItsLookIsForgotten() {
        find(ms(0), Duration.ofSeconds(3), true);
        this.lookout.heard(WakeUpSignal.due(Duration.ofSeconds(1)), ms(500));
        find(ms(1500), Duration.ofSeconds(3), true);

        assertThat(this.lookout.nextAt()).isEqualTo(ms(4500));
    }

    @Test
    void withoutKeepersThereIsNoneToResignAndNoOtherToBecome() {
        PollSchedule lone = new PollSchedule(TestBed.QUEUE, SAFETY_POLL, null, () -> 0.5);
        lone.look(0);
        lone.found(claim(Duration.ofSeconds(3), false), null, 0);

        assertThat(lone.isKeeper()).isFalse();
    }

    @Test
    void aKeeperThatLosesThePartitionHasNothingToTell() {
        find(ms(0), Duration.ofMillis(20), true);
        this.lookout.look(ms(20));
        this.lookout.found(claim(null, true), this.kept.bid(PrimaryPollerBid.Kind.HOLD, 0), ms(20));
        this.lookout.heard(WakeUpSignal.kept(null, OTHER), ms(30));

        assertThat(this.lookout.nextAt()).isGreaterThan(ms(4000));
    }

    @Test
    void whoBecomesKeeperNeedsToShareNoMore() {
        WakeUpSignal.Keeper self = new WakeUpSignal.Keeper(this.kept.node(), 1);
        find(ms(0), null, false);
        this.lookout.heard(WakeUpSignal.kept(null, new WakeUpSignal.Keeper("rich", 2)), ms(10));
        this.lookout.heard(WakeUpSignal.kept(null, self), ms(20));

        assertThat(this.lookout.nextAt()).isGreaterThan(ms(4000));
    }

    @Test
    void aLookBeforeItsTimeToShareDoesNotShare() {
        find(ms(0), null, false);
        this.lookout.heard(WakeUpSignal.kept(null, new WakeUpSignal.Keeper("rich", 2)), ms(10));

        assertThat(this.lookout.look(ms(130))).isEqualTo(this.kept.bid(PrimaryPollerBid.Kind.CONFIRM, 0));
        assertThat(this.lookout.nextAt()).isGreaterThan(ms(4000));
    }

    @Test
    void sharesThoughItHasBidAMomentAgo() {
        find(ms(100), null, false);
        this.lookout.heard(WakeUpSignal.kept(null, new WakeUpSignal.Keeper("rich", 2)), ms(0));
        assertThat(this.lookout.nextAt()).isEqualTo(ms(125));

        assertThat(this.lookout.look(ms(125))).isEqualTo(this.kept.bid(PrimaryPollerBid.Kind.SHARE, 0));
    }

    @Test
    void whoFollowsBidsAtMostTenTimesASecond() {
        find(ms(0), Duration.ZERO, false);

        assertThat(this.lookout.look(ms(99))).isNull();
        this.lookout.found(claim(null, false), null, ms(99));
        assertThat(this.lookout.nextAt()).isGreaterThan(ms(4000));
        assertThat(this.lookout.look(ms(100))).isEqualTo(this.kept.bid(PrimaryPollerBid.Kind.CONFIRM, 0));
    }

    @Test
    void withNoKeeperItBidsThoughItHasAMomentAgo() {
        find(ms(0), null, false);
        this.lookout.heard(WakeUpSignal.VACANT, ms(10));

        assertThat(this.lookout.look(ms(20))).isEqualTo(this.kept.bid(PrimaryPollerBid.Kind.CONFIRM, 0));
    }

    @Test
    void theSilenceOfAKeeperCountsFromTheFirstLookItDidNotTellOf() {
        find(ms(0), Duration.ofMillis(20), true);
        for (long at = 20; at <= 80; at += 30) {
            assertThat(this.lookout.look(ms(at))).isEqualTo(this.kept.bid(PrimaryPollerBid.Kind.HOLD, 0));
            this.lookout.found(claim(null, true), this.kept.bid(PrimaryPollerBid.Kind.HOLD, 0), ms(at));
        }

        assertThat(this.lookout.nextAt()).isEqualTo(ms(270));
    }

    @Test
    void aKeeperBidsWithTheOthersThatItKeeps() {
        find(ms(0), null, true);
        this.kept.add(new Partition(TestBed.QUEUE.queue(), 1));
        this.kept.add(new Partition(TestBed.QUEUE.queue(), 2));

        assertThat(this.lookout.look(ms(200))).isEqualTo(this.kept.bid(PrimaryPollerBid.Kind.CONFIRM, 2));
    }

    @Test
    void whatItHearsTwiceCountsOnce() {
        this.lookout.heard(WakeUpSignal.kept(null, OTHER), ms(0));
        this.lookout.heard(WakeUpSignal.kept(null, OTHER), ms(1));
        assertThat(this.kept.count()).isZero();

        WakeUpSignal own = WakeUpSignal.kept(null, new WakeUpSignal.Keeper(this.kept.node(), 1));
        this.lookout.heard(own, ms(2));
        this.lookout.heard(own, ms(3));
        assertThat(this.kept.count()).isOne();
    }

    @Test
    void safetyPollsOfNodesDriftApart() {
        for (boolean keeper : new boolean[] { true, false }) {
            assertThat(emptyPoll(keeper, 1)).isLessThan(emptyPoll(keeper, 0)).isGreaterThan(ms(3900));
        }
    }

    private long emptyPoll(boolean keeper, double random) {
        PollSchedule lookout = new PollSchedule(TestBed.QUEUE, SAFETY_POLL, this.kept, () -> random);
        lookout.look(0);
        lookout.found(claim(null, keeper), this.kept.bid(PrimaryPollerBid.Kind.CONFIRM, 0), 0);
        return lookout.nextAt();
    }

    private void find(long at, @Nullable Duration nextIn, boolean keeper) {
        this.lookout.look(at);
        this.lookout.found(claim(nextIn, keeper), this.kept.bid(PrimaryPollerBid.Kind.CONFIRM, 0), at);
    }

    private static ClaimResult claim(@Nullable Duration nextIn, boolean keeper) {
        Instant now = Instant.EPOCH;
        return new ClaimResult(List.of(), now, (nextIn != null) ? now.plus(nextIn) : null, 0, List.of(), 0, keeper);
    }

    private static long ms(long millis) {
        return millis * 1_000_000;
    }

}
