package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.Variant;

/** Lists the contenders of most measures. */
final class Variants {

    private Variants() {
    }

    /** Rqueue with its defaults, in a full run only, being slow. */
    static List<Variant> peersToo(Mode mode) {
        return (mode != Mode.FULL) ? List.of(Variant.LIMIT, Variant.OURS, Variant.REDISSON)
                : List.of(Variant.LIMIT, Variant.OURS, Variant.REDISSON, Variant.RQUEUE);
    }

    /** Where the peers would need hours. */
    static List<Variant> limitAndOurs() {
        return List.of(Variant.LIMIT, Variant.OURS);
    }

}
