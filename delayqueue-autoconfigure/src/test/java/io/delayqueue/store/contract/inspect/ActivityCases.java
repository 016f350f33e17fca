package io.delayqueue.store.contract.inspect;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.delayqueue.admin.QueueActivity;
import io.delayqueue.admin.QueueActivity.Backlog;
import io.delayqueue.admin.QueueActivity.Lateness;
import io.delayqueue.admin.QueueActivity.Minute;
import io.delayqueue.fixtures.ManualClock;
import io.delayqueue.fixtures.store.StoreCases;
import io.delayqueue.fixtures.store.StoreFixture;
import io.delayqueue.store.ActivityReport;
import io.delayqueue.store.ActivityStore;
import org.assertj.core.groups.Tuple;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The activity of queues by minute: for three hours, and at most 200 queues. */
public abstract class ActivityCases extends StoreCases {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private static final Instant START = ManualClock.START;

    private static final Backlog BACKLOG = new Backlog(1, 2, 3, 4);

    private final StoreFixture contract;

    public ActivityCases(StoreFixture contract) {
        super(contract);
        this.contract = contract;
    }

    private ActivityStore activity() {
        return this.contract.activity();
    }

    private void advance(Duration time) {
        this.contract.clock().advance(time);
    }

    /** Returns counts of handlers that started within 20 ms, 5 s, and of failures. */
    private static long[] counts(long early, long late, long failed) {
        long[] counts = new long[ActivityReport.FIELDS];
        counts[0] = early;
        counts[7] = late;
        counts[ActivityReport.FAILED] = failed;
        return counts;
    }

    private ActivityStore.Reply report(String node, long number, Duration unanswered, Map<String, long[]> counts) {
        return activity().report(new ActivityReport(node, number, unanswered, counts)).join();
    }

    private ActivityStore.Reply report(String node, long number, Map<String, long[]> counts) {
        return report(node, number, Duration.ZERO, counts);
    }

    /** Returns the recorded minutes, oldest first. */
    private List<Minute> minutes(@Nullable String queue) {
        QueueActivity read = activity().read(queue).join();
        assertThat(read.minutes()).hasSize(QueueActivity.MINUTES);
        return read.minutes().stream().filter((minute) -> minute.reported() || minute.unanswered()).toList();
    }

    private static Minute minute(int number, long started, long failed, @Nullable Lateness lateness) {
        return new Minute(START.plus(MINUTE.multipliedBy(number)), true, false, started, failed, lateness, null);
    }

    private static Lateness millis(double p50, double p95, double p99) {
        return new Lateness(micros(p50), micros(p95), micros(p99));
    }

    private static Duration micros(double millis) {
        return Duration.ofNanos(Math.round(millis * 1_000) * 1_000);
    }

    @Test
    void addsWhatNodesDidInAMinute() {
        report("one", 1, Map.of("a", counts(50, 0, 1), "b", counts(1, 0, 0)));
        advance(Duration.ofSeconds(59));
        report("two", 1, Map.of("a", counts(49, 1, 0)));
        advance(Duration.ofSeconds(1));
        report("one", 2, Map.of("a", counts(0, 0, 3)));

        assertThat(minutes("a")).containsExactly(minute(0, 100, 1, millis(10.101, 19.192, 20)), minute(1, 0, 3, null));
        assertThat(minutes("b")).containsExactly(minute(0, 1, 0, millis(10, 19, 19.8)), minute(1, 0, 0, null));
        assertThat(minutes(null)).containsExactly(minute(0, 101, 1, millis(10.1, 19.19, 19.998)),
                minute(1, 0, 3, null));
        assertThat(activity().read(null).join().queues()).containsExactly("a", "b");
    }

    /** P11: the answer was lost, and the node sends the report again. */
    @Test
    void addsAReportOnce() {
        ActivityReport report = new ActivityReport("one", 1, Duration.ZERO, Map.of("a", counts(5, 0, 2)));
        this.contract.replay(() -> activity().report(report).join());
        advance(MINUTE);
        activity().report(report.unansweredFor(Duration.ofSeconds(30))).join();
        report("one", 2, Map.of("a", counts(1, 0, 0)));

        assertThat(minutes("a")).extracting(Minute::started).containsExactly(5L, 1L);
        assertThat(minutes(null)).extracting(Minute::failed).containsExactly(2L, 0L);
    }

    /**
     * P11: no node has reported meanwhile, as Redis was away, and this one is not the
     * first that reports again.
     */
    @Test
    void addsAReportOnceAfterALongOutage() {
        ActivityReport report = new ActivityReport("one", 1, Duration.ZERO, Map.of("a", counts(5, 0, 2)));
        activity().report(report).join();
        advance(Duration.ofMinutes(11));
        report("two", 1, Map.of("a", counts(1, 0, 0)));
        advance(MINUTE);
        report("two", 2, Map.of("a", counts(2, 0, 0)));
        activity().report(report).join();

        assertThat(minutes("a")).extracting(Minute::started).containsExactly(5L, 1L, 2L);
    }

    @Test
    void marksTheMinutesInWhichANodeHadNoAnswer() {
        report("one", 1, Map.of("a", counts(1, 0, 0)));
        advance(Duration.ofMinutes(5));
        report("one", 2, Duration.ofSeconds(150), Map.of("a", counts(1, 0, 0)));

        assertThat(minutes("a")).extracting(Minute::from, Minute::reported, Minute::unanswered)
            .containsExactly(tuple(0, true, false), tuple(2, false, true), tuple(3, false, true), tuple(4, false, true),
                    tuple(5, true, true));
    }

    private static Tuple tuple(int number, boolean reported, boolean unanswered) {
        return Tuple.tuple(START.plus(MINUTE.multipliedBy(number)), reported, unanswered);
    }

    @Test
    void keepsThreeHours() {
        report("one", 1, Map.of("a", counts(7, 0, 0)));
        advance(Duration.ofMinutes(179));
        report("one", 2, Map.of("a", counts(8, 0, 0)));
        assertThat(minutes("a")).extracting(Minute::started).containsExactly(7L, 8L);
        advance(MINUTE);
        report("one", 3, Map.of("a", counts(9, 0, 0)));

        assertThat(minutes("a")).extracting(Minute::started).containsExactly(8L, 9L);
        assertThat(minutes(null)).extracting(Minute::started).containsExactly(8L, 9L);
    }

    private void takePlace(int i) {
        assertThat(report("n" + i, this.contract.clock().getAsLong(), Map.of("q" + i, counts(1, 0, 0))).leftOut())
            .isEmpty();
    }

    @Test
    void leavesOutQueuesBeyondTheLimitAndNamesThem() {
        IntStream.range(0, QueueActivity.MAX_QUEUES).forEach(this::takePlace);

        assertThat(report("two", 1, Map.of("more", counts(5, 0, 0))).leftOut()).containsExactly("more");
        assertThat(activity().read("more").join().recorded()).isFalse();
        assertThat(minutes("more")).isEmpty();
        assertThat(minutes("q199")).extracting(Minute::started).containsExactly(1L);
        assertThat(minutes(null)).extracting(Minute::started).containsExactly(205L);
        assertThat(activity().read(null).join().queues()).hasSize(QueueActivity.MAX_QUEUES).doesNotContain("more");
    }

    @Test
    void givesThePlaceOfAQueueThatNobodyReportsToAnother() {
        IntStream.range(0, QueueActivity.MAX_QUEUES).forEach(this::takePlace);
        advance(Duration.ofHours(6));
        IntStream.range(0, QueueActivity.MAX_QUEUES).filter((i) -> i != 7).forEach(this::takePlace);
        assertThat(report("one", 1, Map.of("more", counts(5, 0, 0))).leftOut()).containsExactly("more");
        activity().record(this.contract.clock().now(), Map.of("q7", BACKLOG), false).join();
        advance(MINUTE);

        assertThat(report("one", 2, Map.of("more", counts(5, 0, 0))).leftOut()).isEmpty();
        assertThat(minutes("more")).extracting(Minute::started).containsExactly(5L);
        assertThat(activity().read("more").join().minutes()).extracting(Minute::backlog).containsOnlyNulls();
        assertThat(activity().read("q7").join().recorded()).isFalse();
    }

    @Test
    void knowsNothingOfAQueueBeforeItsFirstReport() {
        report("one", 1, Map.of("a", counts(1, 0, 0)));
        advance(MINUTE);
        report("one", 2, Map.of("b", counts(1, 0, 0)));

        assertThat(minutes("b")).containsExactly(minute(1, 1, 0, millis(10, 19, 19.8)));
    }

    @Test
    void asksOneNodeToCountMessagesOnceAMinute() {
        assertThat(report("one", 1, Map.of("a", counts(0, 0, 0), "b", counts(0, 0, 0))).toCount())
            .containsExactlyInAnyOrder("a", "b");
        advance(Duration.ofSeconds(6));
        assertThat(report("two", 1, Map.of()).toCount()).isEmpty();
        advance(Duration.ofSeconds(14));
        assertThat(report("two", 2, Map.of()).toCount()).containsExactlyInAnyOrder("a", "b");
        this.contract.replay(() -> activity()
            .record(this.contract.clock().now(), Map.of("a", BACKLOG, "b", BACKLOG, "other", BACKLOG), true)
            .thenApply((done) -> true)
            .join());
        advance(Duration.ofSeconds(20));
        assertThat(report("one", 2, Map.of()).toCount()).isEmpty();
        advance(Duration.ofSeconds(20));
        assertThat(report("one", 3, Map.of()).toCount()).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void recordsHowManyMessagesQueuesHold() {
        report("one", 1, Map.of("a", counts(4, 0, 0), "b", counts(0, 0, 0)));
        activity().record(this.contract.clock().now(), Map.of("a", BACKLOG), false).join();
        assertThat(minutes("a")).extracting(Minute::backlog).containsExactly(BACKLOG);
        assertThat(minutes("a")).extracting(Minute::started).containsExactly(4L);
        assertThat(minutes("b")).extracting(Minute::backlog).containsExactly((Backlog) null);
        assertThat(minutes(null)).extracting(Minute::backlog).containsExactly((Backlog) null);
        Backlog other = new Backlog(0, 10, 4_095, 0);
        activity().record(this.contract.clock().now(), Map.of("a", BACKLOG, "b", other), true).join();

        assertThat(minutes("b")).extracting(Minute::backlog).containsExactly(other);
        assertThat(minutes(null)).extracting(Minute::backlog).containsExactly(new Backlog(1, 12, 4_098, 4));
    }

    @Test
    void recordsNoMessagesOfAMinuteThatIsOver() {
        report("one", 1, Map.of("a", counts(0, 0, 0)));
        Instant then = this.contract.clock().now();
        advance(Duration.ofMinutes(2));
        report("one", 2, Map.of());
        activity().record(then, Map.of("a", BACKLOG), true).join();

        assertThat(minutes("a")).extracting(Minute::backlog).containsExactly(null, null);
    }

    @Test
    void forgetsTheMinutesAfterAStepOfTheClockBackward() {
        report("one", 1, Map.of("a", counts(1, 0, 0)));
        advance(Duration.ofMinutes(3));
        report("one", 2, Map.of("a", counts(2, 0, 0), "b", counts(3, 0, 0)));
        advance(Duration.ofMinutes(-3));
        report("one", 3, Map.of("a", counts(4, 0, 0), "b", counts(1, 0, 0)));
        assertThat(minutes("b")).extracting(Minute::started).containsExactly(1L);
        advance(Duration.ofMinutes(3));
        report("one", 4, Map.of("a", counts(8, 0, 0)));

        assertThat(minutes("a")).extracting(Minute::started).containsExactly(5L, 8L);
        assertThat(minutes(null)).extracting(Minute::started).containsExactly(6L, 8L);
    }

    @Test
    void keepsTheMinutesBeforeAStepOfTheClockForwardAndBack() {
        report("one", 1, Map.of("a", counts(1, 0, 0)));
        advance(MINUTE);
        report("one", 2, Map.of("a", counts(2, 0, 0)));
        advance(Duration.ofMinutes(QueueActivity.MINUTES + 20));
        report("one", 3, Map.of("a", counts(4, 0, 0)));
        advance(Duration.ofMinutes(-QueueActivity.MINUTES - 20));
        report("one", 4, Map.of("a", counts(8, 0, 0)));

        assertThat(minutes("a")).extracting(Minute::started).containsExactly(1L, 10L);
        assertThat(minutes(null)).extracting(Minute::started).containsExactly(1L, 10L);
    }

    @Test
    void returnsTheLatenessOfThisMinuteAndTheOneBefore() {
        report("one", 1, Map.of("a", counts(1, 0, 0)));
        advance(MINUTE);
        report("one", 2, Map.of("a", counts(2, 0, 0), "b", counts(0, 1, 0)));
        advance(MINUTE);
        report("two", 1, Map.of("a", counts(4, 0, 0)));

        Map<String, long[]> lateness = activity().lateness().join();
        assertThat(lateness.get("a")).containsExactly(counts(6, 0, 0));
        assertThat(lateness.get("b")).containsExactly(counts(0, 1, 0));
    }

}
