package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.faults.Event.Kind;

/**
 * How long messages wait whose node was killed while another was at work: from then until
 * they are claimed again. Threads: confined to one.
 */
final class Deaths {

    private final Map<String, Long> begun = new HashMap<>();

    private final Map<String, Long> killed = new HashMap<>();

    private final List<Long> delays = new ArrayList<>();

    Deaths(History history, List<Held> held) {
        history.of(Kind.CLAIM).forEach((event) -> this.begun.merge(event.node(), event.at(), Math::min));
        history.of(Kind.FAULT)
            .stream()
            .filter((event) -> event.is("state", "dies"))
            .forEach((event) -> this.killed.merge(nodeOf(event), event.at(), Math::min));
        Held.by(Held::idInQueue, held).values().forEach(this::lookAt);
    }

    private static String nodeOf(Event death) {
        String named = death.fact("node");
        return (named != null) ? named : death.node();
    }

    private void lookAt(List<Held> leases) {
        for (int i = 0; i < leases.size() - 1; i++) {
            Held held = leases.get(i);
            Held next = leases.get(i + 1);
            Long at = this.killed.get(held.claimed().node());
            boolean left = at != null && next.now() > at && held.number().equals(next.number())
                    && held.settlements().stream().noneMatch((end) -> end.ends() && end.possible());
            if (left && isAnotherThere(held.claimed().node(), at, next.now())) {
                this.delays.add(next.now() - at);
            }
        }
    }

    /** Whether another node was at work all the time. */
    private boolean isAnotherThere(String node, long from, long until) {
        return this.begun.entrySet()
            .stream()
            .filter((other) -> !other.getKey().equals(node) && other.getValue() <= from)
            .anyMatch((other) -> this.killed.getOrDefault(other.getKey(), Long.MAX_VALUE) > until);
    }

    /** In microseconds, ascending; of what was held, and not about to be settled. */
    long[] delays() {
        return this.delays.stream().mapToLong(Long::longValue).sorted().toArray();
    }

}
