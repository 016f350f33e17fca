package io.delayqueue.faults;

import java.util.SplittableRandom;

/**
 * Something that goes wrong for a while and is well again when its body returns.
 *
 * @param name as tables name it
 */
record Fault(String name, Body body) {

    void happen(FaultRun run, SplittableRandom random) throws Exception {
        run.note(this.name, "broken");
        this.body.happen(run, random);
        run.note(this.name, "mended");
    }

    @Override
    public String toString() {
        return this.name;
    }

    /** Breaks, waits, and mends. */
    @FunctionalInterface
    interface Body {

        void happen(FaultRun run, SplittableRandom random) throws Exception;

    }

}
