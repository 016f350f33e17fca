package io.delayqueue.benchmarks.runner;

import java.util.List;
import java.util.Map;

import io.delayqueue.benchmarks.runner.Progress.Slot;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Cell;
import io.delayqueue.benchmarks.runner.result.Conditions;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.Source;
import io.delayqueue.benchmarks.runner.result.Turn;
import io.delayqueue.benchmarks.runner.result.Weather;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A run in pieces continues where it ended, and repeats what other code has measured. */
class ProgressTests {

    private static final List<Slot> SLOTS = List.of(new Slot(Variant.LIMIT, 1), new Slot(Variant.OURS, 1),
            new Slot(Variant.OURS, 2), new Slot(Variant.LIMIT, 2));

    private static final Turn LIMIT = turn("limit", 1, "11111111", 7);

    private static final Turn OURS = turn("delayqueue", 1, "22222222", 9);

    private static final Turn OURS_NEXT = turn("delayqueue", 2, "22222222", 9);

    private static Turn turn(String contender, int round, String crc, long seconds, Cell... cells) {
        return new Turn(contender, round, source(crc), "2026-01-01T00:00:00Z", seconds, List.of(cells));
    }

    private static Turn later(Turn turn, String date) {
        return new Turn(turn.contender(), turn.round(), turn.source(), date, turn.seconds(), turn.cells());
    }

    private static Source source(String crc) {
        return new Source("c0ffee", false, crc, "33333333", "44444444");
    }

    private static Progress progress(Turn... turns) {
        return new Progress(SLOTS, Map.of(Variant.LIMIT, source("11111111"), Variant.OURS, source("22222222")),
                new Result("drain", new Conditions("full", 2, "7", "PATH", "17", List.of(), "m", 1), List.of(turns)));
    }

    @Test
    void allIsMissingAtTheStart() {
        assertThat(new Progress(SLOTS, Map.of(), null).missing()).isEqualTo(SLOTS);
    }

    @Test
    void keptTurnsAreNotMeasuredAgain() {
        assertThat(progress(LIMIT, OURS).missing()).isEqualTo(SLOTS.subList(2, 4));
        assertThat(progress(LIMIT, OURS).kept()).containsExactly(LIMIT, OURS);
    }

    /** The quotients of a round compare what was measured under the same conditions. */
    @Test
    void aRoundWithATurnOfOtherCodeIsMeasuredAgain() {
        Turn limitNext = turn("limit", 2, "11111111", 7);
        Progress progress = progress(LIMIT, turn("delayqueue", 1, "55555555", 9), OURS_NEXT, limitNext);

        assertThat(progress.missing()).isEqualTo(SLOTS.subList(0, 2));
        assertThat(progress.kept()).containsExactly(OURS_NEXT, limitNext);
    }

    @Test
    void aRoundThatWasInterruptedIsMeasuredAgain() {
        assertThat(progress(LIMIT, OURS, OURS_NEXT).missing()).isEqualTo(SLOTS.subList(2, 4));
    }

    @Test
    void aRoundWhoseTurnsAreOfTwoRunsIsMeasuredAgain() {
        assertThat(progress(LIMIT, later(OURS, "2026-01-01T00:05:06Z")).missing()).isEqualTo(SLOTS.subList(2, 4));
        assertThat(progress(LIMIT, later(OURS, "2026-01-01T00:05:07Z")).missing()).isEqualTo(SLOTS);
    }

    @Test
    void turnsOfUnknownCodeAreMeasuredAgain() {
        assertThat(progress(turn("limit", 1, "", 7)).missing()).isEqualTo(SLOTS);
    }

    @Test
    void failedTurnsAreMeasuredAgain() {
        Cell failed = new Cell("limit", Cell.FAILED, 0, 1, Map.of(), null, new Weather(0, 0.0, 0, 0, ""), List.of());

        assertThat(progress(turn("limit", 1, "11111111", 7, failed)).missing()).isEqualTo(SLOTS);
    }

    @Test
    void aRoundTakesAsLongAsTheTurnsOfItsContendersBefore() {
        Progress progress = progress(LIMIT, OURS);

        assertThat(progress.seconds(progress.missing(), true)).isEqualTo(16);
        assertThat(progress.seconds(progress.missing(), false)).isEqualTo(9);
    }

}
