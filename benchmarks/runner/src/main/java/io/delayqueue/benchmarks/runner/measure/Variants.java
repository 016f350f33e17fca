package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

import io.delayqueue.benchmarks.runner.process.Variant;

/** Lists the contenders of most measures: each peer as it comes, and tuned. */
final class Variants {

    private Variants() {
    }

    /** All, with Rqueue in a full run only, being slow. */
    static List<Variant> peersToo(Mode mode) {
        return (mode != Mode.FULL)
                ? List.of(Variant.LIMIT, Variant.LIMIT_LEASED, Variant.OURS, Variant.REDISSON, Variant.REDISSON_TUNED)
                : List.of(Variant.LIMIT, Variant.LIMIT_LEASED, Variant.OURS, Variant.REDISSON, Variant.REDISSON_TUNED,
                        Variant.RQUEUE, Variant.RQUEUE_TUNED);
    }

    /** Those that differ when they send. */
    static List<Variant> senders(Mode mode) {
        return switch (mode) {
            case SMOKE -> List.of(Variant.LIMIT, Variant.OURS, Variant.REDISSON_TUNED);
            case QUICK ->
                List.of(Variant.SOCKET, Variant.LIMIT, Variant.OURS, Variant.REDISSON, Variant.REDISSON_TUNED);
            case FULL -> List.of(Variant.SOCKET, Variant.LIMIT, Variant.OURS, Variant.REDISSON, Variant.REDISSON_TUNED,
                    Variant.RQUEUE, Variant.RQUEUE_TUNED);
        };
    }

    /** Where the peers would need hours. */
    static List<Variant> limitAndOurs() {
        return List.of(Variant.LIMIT, Variant.OURS);
    }

}
