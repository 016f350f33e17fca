package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.Variant;

/** Something that is measured of several contenders, one after the other, in rounds. */
public interface Measure {

    /** The name by which it is asked for; also of its file. */
    String name();

    /** What a reader of the report has to know, in sentences. */
    String about();

    /** Who takes part. */
    List<Variant> variants(Mode mode);

    /** How often all take their turns. */
    default int rounds(Mode mode) {
        return mode.pick(1, 1, 3);
    }

    /** Measures one contender in one round, in all scenarios. */
    void measure(Round round);

}
