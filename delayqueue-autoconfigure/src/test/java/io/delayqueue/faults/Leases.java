package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.List;

import io.delayqueue.faults.Held.Settlement;
import io.delayqueue.faults.Verdict.Violation;

/**
 * Looks at leases: each as long as asked for, no two of one message or of one group at a
 * time (P4), and nothing is changed by who has lost his (P5). Threads: confined to one.
 */
final class Leases {

    private final List<Violation> violations = new ArrayList<>();

    Leases(List<Held> all) {
        all.forEach(this::lookAt);
        Held.by(Held::idInQueue, all).forEach(this::lookAt);
        Held.by(Held::idInQueue, all).values().forEach(this::lookForStale);
        Held.by(Held::groupInQueue, all).forEach(this::lookAt);
    }

    private void lookAt(Held held) {
        long asked = held.now() + held.claimed().micros("lease") * 1_000;
        if (held.claimed().micros("token") < asked) {
            report("P4", "a lease shorter than asked for: %s", held.toLine());
        }
        List<Settlement> ends = held.settlements().stream().filter(Settlement::ends).toList();
        if (ends.stream().filter(Settlement::accepted).count() > 1) {
            report("P5", "ended more than once: %s", held.toLine());
        }
    }

    /** Leases of one key, the earliest first. */
    private void lookAt(String key, List<Held> leases) {
        List<Held> live = new ArrayList<>();
        for (Held later : leases) {
            live.removeIf((earlier) -> later.now() + Held.ROUNDING > Math.min(earlier.untilAsOf(later.now()),
                    earlier.endedFrom()));
            for (Held earlier : live) {
                report("P4", "two live leases of %s: %s, held until %d, and %s", key, earlier.toLine(),
                        earlier.untilAsOf(later.now()), later.toLine());
            }
            live.add(later);
        }
    }

    private void lookForStale(List<Held> leases) {
        for (int i = 1; i < leases.size(); i++) {
            Held later = leases.get(i);
            for (Held earlier : leases.subList(0, i)) {
                earlier.settlements()
                    .stream()
                    .filter(Settlement::accepted)
                    .filter((settlement) -> settlement.begin().at() > later.now() + Held.ROUNDING)
                    .filter((settlement) -> !isRepeated(settlement, earlier, later.now()))
                    .forEach((settlement) -> report("P5", "a lease that had passed on was settled: %s after %s",
                            settlement.begin().toLine(), later.toLine()));
            }
        }
    }

    /** A dead letter that is there already is answered as the first time. */
    private static boolean isRepeated(Settlement settlement, Held held, long before) {
        return settlement.is("dead-letter")
                && held.any((other) -> other.is("dead-letter") && other.possibleBefore(before));
    }

    List<Violation> violations() {
        return this.violations;
    }

    private void report(String promise, String text, Object... values) {
        this.violations.add(new Violation(promise, text.formatted(values)));
    }

}
