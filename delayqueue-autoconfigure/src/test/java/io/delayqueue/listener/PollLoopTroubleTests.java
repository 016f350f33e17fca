package io.delayqueue.listener;

import java.time.Duration;
import java.util.List;

import ch.qos.logback.classic.Level;
import io.delayqueue.DeadLetterEvent;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.engine.ClaimRequest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a loop makes of a store and a process in trouble: P3 (no wait is longer than the
 * safety poll), P4 (nothing is claimed that nobody handles) and that permits are kept.
 */
class PollLoopTroubleTests {

    private final TestBed bed = new TestBed();

    private PollLoop handled(String... ids) {
        this.bed.concurrency = ids.length;
        for (String id : ids) {
            this.bed.store.add(id, Duration.ZERO);
        }
        PollLoop loop = this.bed.loop();
        loop.pollOnce();
        this.bed.runHandlers();
        loop.pause(true);
        this.bed.store.calls.clear();
        return loop;
    }

    private ListenedQueue queue() {
        return this.bed.queue();
    }

    @Test
    void claimsOneAfterAClaimOfUnknownEffectAndDoublesFromThere() {
        this.bed.concurrency = 5;
        PollLoop loop = this.bed.loop();
        this.bed.store.fail("claim");
        loop.pollOnce();
        loop.pollOnce();
        this.bed.store.mend();
        for (int i = 0; i < 4; i++) {
            TestBed.look(loop);
        }

        assertThat(this.bed.store.calls).containsExactly("claim 5", "claim 1", "claim 1", "claim 2", "claim 4",
                "claim 5");
    }

    @Test
    void claimsAsManyAsBeforeAfterAClaimThatChangedNothing() {
        this.bed.concurrency = 5;
        PollLoop loop = this.bed.loop();
        this.bed.store.failure = new StoreRefusedException("READONLY", null);
        this.bed.store.fail("claim");
        loop.pollOnce();
        loop.pollOnce();

        assertThat(this.bed.store.calls).containsExactly("claim 5", "claim 5");
    }

    @Test
    void handsOutBeforeItTellsAndTellsItselfIfThereIsNoThread() {
        DeadLetterEvent death = new DeadLetterEvent(TestBed.QUEUE.queue().value(), "old", "old~1", 0, "expired");
        this.bed.store.buried.add(death);
        this.bed.store.add("m", Duration.ZERO);
        int[] threads = { 1 };
        WorkerContext context = new WorkerContext(this.bed.store, (event) -> this.bed.events.add(event), (task) -> {
            if (threads[0]-- <= 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            this.bed.handlers.add(task);
        }, this.bed.timer, this.bed.context.outage(), TestBed.PARTITIONS, null, this.bed.context.settings(),
                this.bed.clock);
        PollLoop loop = TestBed.loop(queue(), context);
        loop.pollOnce();

        assertThat(this.bed.events).containsExactly(death);
        this.bed.runHandlers();
        assertThat(this.bed.handled).containsExactly("m");
        this.bed.settle(loop);
        assertThat(this.bed.store.calls).containsExactly("claim 1", "acknowledge [m]");
    }

    @Test
    void sendsTheAcknowledgementsOfARefusedBatchSingly() {
        PollLoop loop = handled("a", "b", "c");
        this.bed.store.poison = "b";
        try (LogCapture log = new LogCapture()) {
            loop.pollOnce();
            loop.pollOnce();
            loop.pollOnce();

            assertThat(this.bed.store.calls).containsExactly("acknowledge [a, b, c]", "acknowledge [a]",
                    "acknowledge [b]", "acknowledge [c]", "acknowledge [b]");
            assertThat(this.bed.store.messages).containsOnlyKeys("b");
            assertThat(log.lines(Level.WARN)).hasSize(1);
            assertThat(log.lines(Level.INFO)).isEmpty();
        }
    }

    @Test
    void letsTheLeaseRunOutWhoseAcknowledgementIsRefused() {
        this.bed.store.add("m", Duration.ZERO);
        LeaseKeeper keeper = new LeaseKeeper(queue(), this.bed.context);
        Acknowledgements acknowledgements = new Acknowledgements(queue(), this.bed.context, keeper);
        long now = this.bed.clock.getAsLong();
        HeldLease lease = this.bed.store
            .claim(TestBed.QUEUE, new ClaimRequest(1, TestBed.LEASE, this.bed.expiredPolicy))
            .thenApply((claim) -> new HeldLease(claim.messages().get(0), new HeldLease.Times(now, now, claim.now()),
                    TestBed.LEASE))
            .join();
        keeper.add(lease);
        keeper.start();
        acknowledgements.add(lease);
        this.bed.store.poison = "m";
        assertThat(acknowledgements.await(acknowledgements.send())).isFalse();
        assertThat(acknowledgements.isEmpty()).isFalse();
        this.bed.timer.advance(TestBed.LEASE);
        acknowledgements.await(acknowledgements.send());

        assertThat(this.bed.store.count("extend")).isZero();
        assertThat(acknowledgements.isEmpty()).isTrue();
        assertThat(acknowledgements.send()).isEmpty();
    }

    @Test
    void neverWaitsLongerThanTheSafetyPoll() {
        Duration safetyPoll = Duration.ofMillis(50);
        WorkerContext context = new WorkerContext(this.bed.store, (event) -> {
        }, Runnable::run, this.bed.timer, this.bed.context.outage(), TestBed.PARTITIONS, null,
                new WorkerSettings(Duration.ZERO, safetyPoll, null, false), this.bed.clock);
        for (int i = 0; i < 100; i++) {
            assertThat(TestBed.loop(queue(), context).pollOnce()).isBetween(safetyPoll.multipliedBy(4).dividedBy(5),
                    safetyPoll);
        }
        this.bed.store.fail("claim");
        PollLoop loop = TestBed.loop(queue(), context);
        assertThat(List.of(loop.pollOnce(), loop.pollOnce(), loop.pollOnce()))
            .allMatch((wait) -> wait.compareTo(safetyPoll) <= 0);
    }

}
