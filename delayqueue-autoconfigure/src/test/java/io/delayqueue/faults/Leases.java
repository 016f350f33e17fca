package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.faults.Event.Kind;
import io.delayqueue.faults.Verdict.Violation;

/**
 * Looks at leases: no two of one message or of one group at a time (P4), and nothing is
 * changed by who has lost his (P5). Threads: confined to one.
 */
final class Leases {

    private final Map<String, Held> byToken = new HashMap<>();

    private final Map<String, List<Held>> byKey = new HashMap<>();

    private final List<Violation> violations = new ArrayList<>();

    Leases(History history) {
        for (Event claimed : history.of(Kind.CLAIMED)) {
            Held held = new Held(claimed);
            this.byToken.put(key(claimed), held);
            this.byKey.computeIfAbsent(claimed.get("queue") + " id " + claimed.id(), (none) -> new ArrayList<>())
                .add(held);
            if (claimed.fact("group") != null) {
                this.byKey
                    .computeIfAbsent(claimed.get("queue") + " group " + claimed.get("group"),
                            (none) -> new ArrayList<>())
                    .add(held);
            }
        }
        history.of(Kind.SETTLE).forEach((begin) -> settle(begin, history));
    }

    private static String key(Event event) {
        return event.get("queue") + '/' + event.id() + '/' + event.get("token");
    }

    private void settle(Event begin, History history) {
        Held held = this.byToken.get(key(begin));
        if (held == null) {
            return;
        }
        Event end = history.endOf(begin).orElse(null);
        boolean refused = end != null && end.is("result", "false");
        boolean accepted = end != null && end.is("result", "true");
        if (begin.is("op", "extend")) {
            if (accepted) {
                held.until = Math.max(held.until, begin.at() + begin.micros("lease") * 1_000);
            }
        }
        else if (!begin.is("op", "start") && !refused) {
            held.endedFrom = Math.min(held.endedFrom, begin.at());
        }
        if (accepted) {
            held.accepted.add(begin);
        }
    }

    List<Violation> violations() {
        this.byKey.forEach((key, leases) -> {
            leases.sort(Comparator.comparingLong((held) -> held.now));
            for (int i = 1; i < leases.size(); i++) {
                for (int j = 0; j < i; j++) {
                    compare(key, leases.get(j), leases.get(i));
                }
            }
        });
        return this.violations;
    }

    private void compare(String key, Held earlier, Held later) {
        // The store's now comes rounded down to the millisecond.
        if (later.now + 1_000 <= Math.min(earlier.until, earlier.endedFrom)) {
            this.violations.add(new Violation("P4", "two live leases of %s: %s, held until %d, and %s".formatted(key,
                    earlier.claimed.toLine(), earlier.until, later.claimed.toLine())));
        }
        boolean sameMessage = earlier.claimed.id().equals(later.claimed.id());
        for (Event settlement : earlier.accepted) {
            if (sameMessage && settlement.at() > later.claimed.at()) {
                this.violations.add(new Violation("P5", "a lease that had passed on was settled: %s after %s"
                    .formatted(settlement.toLine(), later.claimed.toLine())));
            }
        }
    }

    /** A lease; all times in microseconds of the store. */
    private static final class Held {

        private final Event claimed;

        private final long now;

        private long until;

        /** From when on its holder may have ended it. */
        private long endedFrom = Long.MAX_VALUE;

        private final List<Event> accepted = new ArrayList<>();

        Held(Event claimed) {
            this.claimed = claimed;
            this.now = claimed.micros("now");
            this.until = claimed.micros("token");
        }

    }

}
