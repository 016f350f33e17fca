package io.delayqueue.faults;

import java.util.concurrent.ThreadLocalRandom;

/** Seeds of runs: as given by {@code -Ddq.seed}, else new. */
final class Seeds {

    private Seeds() {
    }

    /** A seed, which is printed. */
    static long next() {
        Long given = Long.getLong("dq.seed");
        long seed = (given != null) ? given : ThreadLocalRandom.current().nextLong(1_000_000);
        System.out.println("Fault runs from -Ddq.seed=" + seed);
        return seed;
    }

}
