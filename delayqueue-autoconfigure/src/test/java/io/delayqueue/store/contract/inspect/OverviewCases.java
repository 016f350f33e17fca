package io.delayqueue.store.contract.inspect;

import java.time.Duration;
import java.time.Instant;

import io.delayqueue.admin.DueForecast;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.PartitionCounts;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.Pause;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static io.delayqueue.fixtures.store.GroupValues.grouped;
import static io.delayqueue.fixtures.store.StoreValues.DELAY;
import static io.delayqueue.fixtures.store.StoreValues.LEASE;
import static io.delayqueue.fixtures.store.StoreValues.QUEUE;
import static io.delayqueue.fixtures.store.StoreValues.at;
import static io.delayqueue.fixtures.store.StoreValues.called;
import static io.delayqueue.fixtures.store.StoreValues.inLane;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests the counts and times of a queue that operators see. */
public abstract class OverviewCases extends StoreCases {

    private final StoreFixture contract;

    public OverviewCases(StoreFixture contract) {
        super(contract);
        this.contract = contract;
    }

    private PartitionCounts counts() {
        return this.contract.queueInspector().counts(QUEUE).join();
    }

    private DueForecast forecast() {
        return this.contract.queueInspector().dueForecast(QUEUE).join();
    }

    private static DueForecast forecast(long overdue, long minute, long hour, long day, long week, long later,
            long followers) {
        return new DueForecast(QUEUE.queue().value(), overdue, minute, hour, day, week, later, followers);
    }

    private static PartitionCounts waiting(long scheduled, long due, long lapsed, @Nullable Instant next, Instant now) {
        return new PartitionCounts(scheduled, due, 0, 0, lapsed, 0, next, null, 0, now);
    }

    @Test
    void countsNothingInAnEmptyQueue() {
        assertThat(counts()).isEqualTo(waiting(0, 0, 0, null, at(0)));
        assertThat(forecast()).isEqualTo(forecast(0, 0, 0, 0, 0, 0, 0));
    }

    @Test
    void countsWhatWaitsAndWhatIsDue() {
        this.dq.due();
        this.dq.send(inLane(9, "b", DELAY));
        this.dq.advance(Duration.ofSeconds(2));

        assertThat(counts()).isEqualTo(waiting(2, 1, 0, at(0), at(2)));
    }

    @Test
    void countsLeasesAndThoseThatRanOut() {
        this.dq.leased();
        assertThat(counts()).isEqualTo(new PartitionCounts(0, 0, 0, 1, 0, 0, null, null, 0, at(0)));
        this.dq.advance(LEASE.plusMillis(1));

        assertThat(counts()).isEqualTo(waiting(1, 1, 1, at(30), at(30.001)));
        assertThat(forecast()).isEqualTo(forecast(1, 0, 0, 0, 0, 0, 0));
    }

    @Test
    void countsMessagesThatWaitInTheirGroupAndDeadLetters() {
        this.dq.dead();
        this.dq.threeOfAGroup();

        assertThat(counts()).isEqualTo(new PartitionCounts(3, 1, 2, 0, 0, 1, at(1), null, 0, at(10)));
        assertThat(forecast()).isEqualTo(forecast(1, 0, 0, 0, 0, 0, 2));
    }

    @Test
    void showsAPauseUntilItIsOver() {
        PartitionLayout paused = PartitionLayout.ONE.paused(new Pause(at(5))).completed();
        this.contract.records().raise(QUEUE, paused).join();
        assertThat(counts().pause()).isEqualTo(new Pause(at(5)));
        assertThat(counts().version()).isOne();
        this.dq.advance(Duration.ofSeconds(5));

        assertThat(counts().pause()).isNull();
        this.contract.records().raise(QUEUE, paused.paused(new Pause(null))).join();
        assertThat(counts().pause()).isEqualTo(new Pause(null));
    }

    @Test
    void countsEachMessageOnceInItsSpan() {
        this.dq.due();
        Duration[] delays = { Duration.ofMillis(1), Duration.ofMinutes(1), Duration.ofMinutes(1).plusMillis(1),
                Duration.ofHours(1), Duration.ofHours(2), Duration.ofDays(1), Duration.ofDays(2), Duration.ofDays(7),
                Duration.ofDays(7).plusMillis(1) };
        for (int i = 0; i < delays.length; i++) {
            this.dq.send((i % 2 == 0) ? called("m" + i, delays[i]) : inLane(i, "m" + i, delays[i]));
        }

        assertThat(forecast()).isEqualTo(forecast(1, 2, 2, 2, 2, 1, 0));
        this.dq.send(grouped("g", "head", Duration.ofHours(3)));
        this.dq.send(grouped("g", "follower", Duration.ofHours(4)));
        assertThat(forecast()).isEqualTo(forecast(1, 2, 2, 3, 2, 1, 1));
    }

}
