package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

import io.delayqueue.faults.Event.Kind;

/**
 * How late handlers first started, by the phase of the run that their messages were due
 * in. What waits for others is left out: followers of a group, and what a {@link Taker}
 * takes one by one. Threads: confined to one.
 */
final class Lateness {

    private final NavigableMap<Long, String> phases = new TreeMap<>();

    private final Map<String, List<Long>> byPhase = new LinkedHashMap<>();

    Lateness(History history, Map<String, Sent> sent) {
        this.phases.put(Long.MIN_VALUE, "start");
        history.of(Kind.PHASE).forEach((event) -> this.phases.put(event.at(), event.get("name")));
        Set<String> seen = new HashSet<>();
        for (Event start : history.of(Kind.HANDLE)) {
            Sent message = sent.get(start.get("number"));
            if (message != null && !message.isRescheduled() && start.fact("group") == null
                    && !start.is("queue", Workload.TAKEN) && seen.add(message.number())) {
                long due = message.due();
                this.byPhase.computeIfAbsent(this.phases.floorEntry(due).getValue(), (none) -> new ArrayList<>())
                    .add(start.at() - due);
            }
        }
    }

    Map<String, long[]> byPhase() {
        Map<String, long[]> sorted = new LinkedHashMap<>();
        this.byPhase.forEach(
                (phase, values) -> sorted.put(phase, values.stream().mapToLong(Long::longValue).sorted().toArray()));
        return sorted;
    }

}
