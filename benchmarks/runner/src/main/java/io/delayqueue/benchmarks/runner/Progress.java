package io.delayqueue.benchmarks.runner;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.Source;
import io.delayqueue.benchmarks.runner.result.Turn;
import org.jspecify.annotations.Nullable;

/**
 * Compares the turns of a measure that are kept with those that it should have.
 *
 * @param slots all turns, in their order
 * @param sources the code of each contender as it is now
 * @param result what is kept; {@code null} if nothing is
 */
record Progress(List<Slot> slots, Map<Variant, Source> sources, @Nullable Result result) {

    /** The estimated length of a turn that was never measured. */
    private static final long UNKNOWN_SECONDS = 60;

    /** The longest time between two turns of a round; a run begins the next at once. */
    private static final Duration PAUSE = Duration.ofMinutes(5);

    /**
     * Returns the kept turns; others are measured again. A round is kept as a whole, if
     * all its turns are of the code as it is now and followed one another, because
     * quotients of a round compare contenders under the same conditions.
     */
    List<Turn> kept() {
        if (this.result == null) {
            return List.of();
        }
        List<Turn> current = this.result.turns().stream().filter(this::isCurrent).toList();
        return current.stream().filter((turn) -> isWhole(turn.round(), current)).toList();
    }

    private boolean isWhole(int round, List<Turn> current) {
        List<Turn> turns = current.stream()
            .filter((turn) -> turn.round() == round)
            .sorted(Comparator.comparing(Turn::date))
            .toList();
        return turns.size() == this.slots.stream().filter((slot) -> slot.round() == round).count()
                && IntStream.range(1, turns.size()).allMatch((i) -> follows(turns.get(i), turns.get(i - 1)));
    }

    private static boolean follows(Turn turn, Turn before) {
        Instant end = Instant.parse(before.date()).plusSeconds(before.seconds());
        return Instant.parse(turn.date()).isBefore(end.plus(PAUSE));
    }

    private boolean isCurrent(Turn turn) {
        return turn.isComplete() && this.slots.stream().anyMatch((slot) -> slot.isOf(turn) && isCurrent(slot, turn));
    }

    private boolean isCurrent(Slot slot, Turn turn) {
        Source now = this.sources.get(slot.variant());
        return now != null && turn.source().isSameCode(now);
    }

    /** Returns the turns that are to be measured. */
    List<Slot> missing() {
        List<Turn> kept = kept();
        return this.slots.stream().filter((slot) -> kept.stream().noneMatch(slot::isOf)).toList();
    }

    /**
     * Estimates how long the first of some turns takes, by the longest earlier one of its
     * contender.
     * @param round whether to include the other turns of its round
     */
    long seconds(List<Slot> missing, boolean round) {
        Slot first = missing.get(0);
        return missing.stream()
            .filter((slot) -> slot.equals(first) || (round && slot.round() == first.round()))
            .mapToLong(this::seconds)
            .sum();
    }

    private long seconds(Slot slot) {
        return (this.result == null) ? UNKNOWN_SECONDS
                : this.result.turns()
                    .stream()
                    .filter((turn) -> turn.contender().equals(slot.variant().name()))
                    .mapToLong(Turn::seconds)
                    .max()
                    .orElse(UNKNOWN_SECONDS);
    }

    /** Names a turn. */
    record Slot(Variant variant, int round) {

        boolean isOf(Turn turn) {
            return this.round == turn.round() && this.variant.name().equals(turn.contender());
        }

    }

}
