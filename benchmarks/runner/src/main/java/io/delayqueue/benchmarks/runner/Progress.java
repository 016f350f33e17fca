package io.delayqueue.benchmarks.runner;

import java.util.List;
import java.util.Map;

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

    /** Returns the kept turns of the code as it is now; others are measured again. */
    List<Turn> kept() {
        return (this.result == null) ? List.of() : this.result.turns().stream().filter(this::isCurrent).toList();
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
