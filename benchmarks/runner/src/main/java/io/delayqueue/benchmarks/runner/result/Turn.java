package io.delayqueue.benchmarks.runner.result;

import java.util.List;

/**
 * Holds what one contender measured in one round.
 *
 * @param contender its name
 * @param round from 1
 * @param source the code that was measured
 * @param date when it began, UTC
 * @param seconds how long it took, with start and warm-up
 * @param cells what came out
 */
public record Turn(String contender, int round, Source source, String date, long seconds, List<Cell> cells) {

    /** Returns whether it ended without an exception. */
    public boolean isComplete() {
        return this.cells.stream().noneMatch((cell) -> cell.scenario().equals(Cell.FAILED));
    }

}
