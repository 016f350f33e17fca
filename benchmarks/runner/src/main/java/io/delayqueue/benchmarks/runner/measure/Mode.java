package io.delayqueue.benchmarks.runner.measure;

/** How much is measured. */
public enum Mode {

    /** As little as shows that everything works; figures mean nothing. */
    SMOKE,

    /** A few minutes in all, on a machine that may be busy. */
    QUICK,

    /** What a report is made of, on a machine with nothing else to do. */
    FULL;

    int pick(int smoke, int quick, int full) {
        return switch (this) {
            case SMOKE -> smoke;
            case QUICK -> quick;
            case FULL -> full;
        };
    }

}
