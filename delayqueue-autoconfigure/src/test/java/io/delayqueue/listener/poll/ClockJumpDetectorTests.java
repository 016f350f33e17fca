package io.delayqueue.listener.poll;

import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

import ch.qos.logback.classic.Level;
import io.delayqueue.QueueName;
import io.delayqueue.fixtures.LogCapture;
import io.delayqueue.listener.poll.ClockJumpDetector.Jump;
import io.delayqueue.store.Partition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests P2, P4: a jump of the clock is detected, and nothing else counts as one. */
class ClockJumpDetectorTests {

    private static final long MILLI = 1_000_000;

    private static final Instant START = Instant.parse("2026-11-22T01:00:00Z");

    private final ClockJumpDetector clock = new ClockJumpDetector();

    private final ClockJumpLog watch = new ClockJumpLog();

    /**
     * Reports the store's time at a local time, in milliseconds, after an answer of the
     * given duration.
     */
    private Jump observe(long sent, long took, long storeMillis) {
        return this.clock.record(sent * MILLI, (sent + took) * MILLI, START.plusMillis(storeMillis));
    }

    @Test
    void aRegularClockHasNotJumped() {
        for (int i = 0; i < 1000; i++) {
            assertThat(observe(i * 5000L, 1, i * 5000L)).isNull();
        }
    }

    @Test
    void aForwardJumpIsDetectedWithBothBounds() {
        observe(0, 2, 1);

        assertThat(observe(5000, 10, 3_605_005))
            .isEqualTo(new Jump(Duration.ofMillis(3_599_994), Duration.ofMillis(3_600_006)));
        assertThat(observe(10_000, 1, 3_610_000)).as("known by then").isNull();
    }

    @Test
    void aBackwardJumpIsDetectedWithBothBounds() {
        observe(0, 2, 1);

        assertThat(observe(5000, 10, -3_594_995))
            .isEqualTo(new Jump(Duration.ofMillis(-3_600_006), Duration.ofMillis(-3_599_994)));
        assertThat(observe(10_000, 1, -3_590_000)).isNull();
    }

    /** The store may have read its clock early or late in that span. */
    @ParameterizedTest
    @ValueSource(longs = { 0, 4000, 8000 })
    void aSlowAnswerIsNoJump(long readAt) {
        observe(0, 1, 0);
        assertThat(observe(5000, 8000, 5000 + readAt)).isNull();
        assertThat(observe(20_000, 1, 20_000)).isNull();
    }

    @Test
    void aSlowAnswerKeepsNarrowerBounds() {
        observe(0, 1, 0);
        observe(1000, 8000, 1000);

        assertThat(observe(10_000, 1, 10_500)).isNotNull();
    }

    @Test
    void aClockThatIsSlewedHasNotJumped() {
        double store = 0;
        for (int i = 0; i < 1000; i++) {
            assertThat(observe(i * 3_600_000L, 1, Math.round(store))).isNull();
            store += 3_600_000 * 1.0005;
        }
    }

    @Test
    void theDelayOfACallIsThatBehindTheFastestOne() {
        observe(0, 20, 10);
        assertThat(this.clock.delay()).isZero();
        observe(20, 20, 22);
        assertThat(this.clock.delay()).as("the fastest").isZero();
        observe(40, 20, 57);
        assertThat(this.clock.delay()).as("less a part of 20 ms").isEqualTo(15 * MILLI - 400);
    }

    /**
     * Otherwise polls would be early or late for as long as the bounds of the old time
     * last.
     */
    @Test
    void aChangedClockMakesNoCallLookSlow() {
        observe(0, 20, 10);
        observe(20, 20, 80);
        assertThat(this.clock.delay()).as("forward by 50 ms").isZero();
        observe(40, 20, 0);
        assertThat(this.clock.delay()).as("back by 100 ms").isZero();
        observe(60, 20, 25);
        assertThat(this.clock.delay()).as("a slower call").isEqualTo(5 * MILLI - 400);
    }

    @Test
    void aSmallChangeIsNoJump() {
        observe(0, 1, 0);
        assertThat(observe(5000, 1, 5090)).isNull();
        assertThat(observe(10_000, 1, 10_000)).isNull();
    }

    @Test
    void networkDelaysAreNoJumpAndEachRealJumpIsDetected() {
        long seed = System.nanoTime();
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        long ours = 0;
        long ahead = 0;
        for (int i = 0; i < 10_000; i++) {
            ours += random.nextLong(1, 6000);
            long took = random.nextLong(1, (i % 10 == 0) ? 9000 : 50);
            // The first answer sets the bounds, so nothing before it can be a jump.
            boolean jumps = i > 0 && random.nextInt(100) == 0;
            // Exceeds the duration of answers, or the jump could remain undetected.
            long by = jumps ? random.nextLong(20_000, 4_000_000) * (random.nextBoolean() ? 1 : -1) : 0;
            ahead += by;
            Jump jump = observe(ours, took, ours + random.nextLong(took + 1) + ahead);
            if (jumps) {
                assertThat(jump).as("jump by %d with seed %d", by, seed).isNotNull();
                assertThat(by).as("seed %d", seed).isBetween(jump.least().toMillis() - 10, jump.most().toMillis() + 10);
            }
            else {
                assertThat(jump).as("no jump with seed %d", seed).isNull();
            }
            ours += took;
        }
    }

    @Test
    void aJumpIsLoggedAndCountedOnceForAllLoops() {
        try (LogCapture log = new LogCapture()) {
            seen(jump(3_599_000, 3_601_000), 0, 10);
            seen(jump(3_599_900, 3_600_100), 0, 11);
            assertThat(log.lines(Level.WARN)).singleElement()
                .asString()
                .contains("queue 'a'", "forward by 59 min 59 s to 1 h,");

            seen(jump(-3_601_000, -3_599_000), 10, 20);
            assertThat(log.lines(Level.WARN)).hasSize(2).last().asString().contains("back by 59 min 59 s to 1 h,");
        }
        assertThat(this.watch.count()).isEqualTo(2);
    }

    @Test
    void aLoopThatPollsMuchLaterReportsNoNewJump() {
        seen(jump(3_599_000, 3_601_000), 0, 10);
        seen(jump(3_599_000, 3_601_000), 5, 100_000);
        assertThat(this.watch.count()).isOne();
    }

    @Test
    void twoJumpsOfOneAmountAreTwo() {
        seen(jump(900, 1100), 0, 10);
        seen(jump(900, 1100), 1, 11);
        seen(jump(900, 1100), 11, 12);
        seen(jump(900, 1100), 10, 13);
        assertThat(this.watch.count()).isEqualTo(2);
    }

    @Test
    void twoJumpsThatALoopDetectsAsOneAreNoThird() {
        seen(jump(900, 1100), 0, 10);
        seen(jump(4900, 5100), 10, 20);
        seen(jump(5900, 6100), 0, 30);
        assertThat(this.watch.count()).isEqualTo(2);
    }

    private void seen(Jump jump, long since, long at) {
        this.watch.jumped(Partition.first(new QueueName("a")), new ClockJumpLog.Sample(jump, since, at), Runnable::run);
    }

    private static Jump jump(long least, long most) {
        return new Jump(Duration.ofMillis(least), Duration.ofMillis(most));
    }

    @Test
    void aLoopChecksTheClockWithEachClaim() {
        TestBed bed = new TestBed();
        PollLoop loop = bed.loop();
        TestBed.poll(loop);
        bed.clock.advance(Duration.ofSeconds(5));
        TestBed.poll(loop);
        assertThat(bed.context.clocks().count()).isZero();

        bed.store.step(Duration.ofHours(1));
        bed.clock.advance(Duration.ofSeconds(5));
        TestBed.poll(loop);
        assertThat(bed.context.clocks().count()).isOne();

        bed.store.step(Duration.ofHours(1));
        bed.clock.advance(Duration.ofSeconds(5));
        TestBed.poll(loop);
        assertThat(bed.context.clocks().count()).as("as much again").isEqualTo(2);
    }

}
