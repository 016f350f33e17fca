package io.delayqueue.store.contract.claim;

import java.time.Duration;
import java.util.List;

import io.delayqueue.OnDuplicate;
import io.delayqueue.PauseResult;
import io.delayqueue.QueueName;
import io.delayqueue.ResumeResult;
import io.delayqueue.fixtures.store.ClaimValues;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.WakeUpProbe;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.fixtures.store.StoreValues;
import io.delayqueue.store.ClaimRequest;
import io.delayqueue.store.ClaimResult;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.ExpiryPolicy;
import io.delayqueue.store.Lease;
import io.delayqueue.store.NewMessage;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.PartitionTarget;
import io.delayqueue.store.Pause;
import io.delayqueue.store.PrimaryPollerBid;
import io.delayqueue.store.routing.PartitionLayouts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.QUEUE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.expiring;
import static org.assertj.core.api.Assertions.assertThat;

/** A queue that is paused, for all who claim. */
public abstract class PauseCases extends StoreCases {

    private static final QueueName NAME = QUEUE.queue();

    private final StoreFixture contract;

    public PauseCases(StoreFixture contract) {
        super(contract);
        this.contract = contract;
    }

    @AfterEach
    void resumeForTheNext() {
        layouts().resume(NAME).join();
    }

    /** As of a process that has just started. */
    private PartitionLayouts layouts() {
        return new PartitionLayouts(this.contract.records(), (queue) -> 0, System::nanoTime);
    }

    private PauseResult pause() {
        return layouts().pause(NAME, null).join();
    }

    private PauseResult pause(Duration time) {
        return layouts().pause(NAME, DueTime.after(time)).join();
    }

    private static PauseResult paused(boolean before, double until) {
        return new PauseResult(NAME.value(), before, at(until));
    }

    @Test
    void leavesWhatIsDue() {
        this.dq.due();
        assertThat(pause()).isEqualTo(new PauseResult(NAME.value(), false, null));

        ClaimValues claim = this.dq.claim();
        assertThat(claim.ids()).isEmpty();
        assertThat(claim.nextAt()).isNull();
        assertThat(this.dq.statistics().due()).isOne();
        this.dq.advance(Duration.ofDays(100));
        assertThat(this.dq.claim().ids()).isEmpty();
    }

    @Test
    void leavesALeaseThatRanOutToItsHolder() {
        Lease lease = this.dq.leased();
        pause();
        this.dq.advance(LEASE);

        assertThat(this.dq.claim().ids()).isEmpty();
        assertThat(this.dq.extend(lease, LEASE)).isTrue();
        assertThat(this.dq.acknowledge(lease)).isTrue();
    }

    @Test
    void endsByItselfAndNotEarlier() {
        this.dq.due();
        assertThat(pause(DELAY)).isEqualTo(paused(false, 10));
        assertThat(this.dq.claim().nextAt()).isEqualTo(at(10));

        this.dq.advance(DELAY.minusNanos(1_000));
        assertThat(this.dq.claim().ids()).isEmpty();
        this.dq.advance(Duration.ofNanos(1_000));
        assertThat(this.dq.claim().ids()).hasSize(1);
    }

    @Test
    void endsWithAResumptionWhichWakesWorkers() {
        this.dq.due();
        pause();
        this.dq.claim();
        try (WakeUpProbe probe = this.dq.listen()) {
            assertThat(layouts().resume(NAME).join()).isEqualTo(ResumeResult.RESUMED);

            assertThat(probe.awaitNotification()).isTrue();
        }
        assertThat(this.dq.claim().ids()).hasSize(1);
        assertThat(layouts().resume(NAME).join()).isEqualTo(ResumeResult.NOT_PAUSED);
    }

    @Test
    void canGetAnotherEnd() {
        this.dq.due();
        pause();
        assertThat(pause(DELAY)).isEqualTo(paused(true, 10));
        assertThat(pause(DELAY)).isEqualTo(paused(true, 10));
        assertThat(pause()).isEqualTo(new PauseResult(NAME.value(), true, null));
        assertThat(layouts().pause(NAME, DueTime.at(at(1))).join()).isEqualTo(paused(true, 1));

        this.dq.advance(DELAY);
        assertThat(layouts().resume(NAME).join()).isEqualTo(ResumeResult.NOT_PAUSED);
        assertThat(layouts().pause(NAME, DueTime.at(at(1))).join()).isEqualTo(paused(false, 1));
        assertThat(this.dq.claim().ids()).hasSize(1);
    }

    @Test
    void canEndOnlyIfItWasNotChanged() {
        this.dq.due();
        Pause pause = layouts().pauseUnlessPaused(NAME, DELAY).join().orElseThrow();
        assertThat(pause).isEqualTo(new Pause(at(10)));
        assertThat(this.dq.claim().ids()).isEmpty();
        assertThat(layouts().pauseUnlessPaused(NAME, DELAY.multipliedBy(2)).join()).isEmpty();
        assertThat(this.dq.claim().nextAt()).isEqualTo(at(10));

        pause();
        layouts().resume(NAME, pause).join();
        assertThat(this.dq.claim().ids()).isEmpty();
        pause(DELAY);
        layouts().resume(NAME, pause).join();
        assertThat(this.dq.claim().ids()).hasSize(1);
    }

    @Test
    void goesOnWhileTimesToLiveRunOut() {
        this.dq.send(expiring(Duration.ZERO, DELAY));
        pause();
        this.dq.advance(DELAY);
        assertThat(this.dq.claim().expired()).isZero();

        layouts().resume(NAME).join();
        assertThat(this.dq.claim().expired()).isOne();
    }

    @Test
    void outlivesMessages() {
        Lease lease = this.dq.leased();
        pause();
        this.dq.acknowledge(lease);
        this.dq.claim();

        assertThat(pause().alreadyPaused()).isTrue();
    }

    @Test
    void holdsInEveryPartitionWhateverTheirNumber() {
        PartitionLayouts early = layouts();
        early.repartition(NAME, 2).join();
        pause();
        early.repartition(NAME, 4).join();

        for (Partition partition : early.of(NAME).join().all(NAME)) {
            NewMessage message = StoreValues.called("of-" + partition.index(), Duration.ZERO);
            PartitionTarget target = new PartitionTarget(partition, 10);
            this.contract.store().schedule(target, List.of(message)).join();
            ClaimRequest request = new ClaimRequest(1, LEASE, ExpiryPolicy.DROP);

            assertThat(this.contract.store().claim(partition, request).join().messages()).isEmpty();
            this.contract.store().cancel(target, message.id()).join();
        }
    }

    @Test
    void namesThePrimaryPollerOfThePartition() {
        this.dq.due();
        pause(DELAY);
        PrimaryPollerBid bid = new PrimaryPollerBid("one", PrimaryPollerBid.Kind.ACQUIRE, 0, Duration.ofHours(1));

        ClaimResult claim = this.contract.store()
            .claim(QUEUE, new ClaimRequest(1, LEASE, ExpiryPolicy.DROP, bid))
            .join();

        assertThat(claim.primaryPoller()).isTrue();
        assertThat(claim.nextAt()).isEqualTo(at(10));
    }

    @Test
    void doesNotDecideHowManyPartitionsThereAre() {
        pause();
        this.dq
            .send(new NewMessage("u", true, DueTime.NOW, OnDuplicate.KEEP, 4, null, null, StoreValues.envelope("u")));
        PartitionLayouts configured = new PartitionLayouts(this.contract.records(), (queue) -> 4, System::nanoTime);

        assertThat(configured.of(NAME).join()).isEqualTo(new PartitionLayout(2, List.of(1, 4), true, new Pause(null)));
        assertThat(this.dq.claim().ids()).isEmpty();
    }

}
