package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.Variant;

/** Measures several contenders, one after the other, in rounds. */
public interface Measure {

    /** The name on the command line, and of the file of results. */
    String name();

    /** The heading in the report. */
    String title();

    /** Describes the measure for readers of the report, in sentences. */
    String about();

    /** The contenders. */
    List<Variant> variants(Mode mode);

    /** The number of rounds. */
    default int rounds(Mode mode) {
        return mode.pick(1, 1, 5);
    }

    /** The number of rounds of a contender: Rqueue is slow, and far from the others. */
    default int rounds(Mode mode, Variant variant) {
        return variant.isRqueue() ? 1 : rounds(mode);
    }

    /** Measures one contender in one round, in all scenarios. */
    void measure(Round round);

}
