package io.delayqueue.benchmarks.runner.measure;

/** How much is measured. */
public enum Mode {

    /** As little as shows that everything works; figures mean nothing. */
    SMOKE,

    /** A few minutes in all, on a machine that may be busy. */
    QUICK,

    /** For a report, on a machine without other load. */
    FULL;

    int pick(int smoke, int quick, int full) {
        return switch (this) {
            case SMOKE -> smoke;
            case QUICK -> quick;
            case FULL -> full;
        };
    }

}
