package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.faults.Event.Kind;
import io.delayqueue.faults.Verdict.Violation;

/**
 * Looks for handlers that start after their message was cancelled by the answer (P6).
 * Threads: confined to one.
 */
final class Cancels {

    private final List<Violation> violations = new ArrayList<>();

    Cancels(History history, Map<String, Sent> sent) {
        Map<String, List<Event>> cancelledById = new HashMap<>();
        for (Event cancel : history.of(Kind.CANCEL)) {
            history.endOf(cancel)
                .filter((end) -> end.is("result", "CANCELLED"))
                .ifPresent((end) -> cancelledById.computeIfAbsent(cancel.id(), (none) -> new ArrayList<>()).add(end));
        }
        for (Event start : history.of(Kind.HANDLE)) {
            Sent message = sent.get(start.get("number"));
            for (Event cancelled : cancelledById.getOrDefault(start.id(), List.of())) {
                if (start.at() > cancelled.at() && message != null && message.endAt() < cancelled.at()) {
                    this.violations.add(new Violation("P6", "cancelled, and started %d us later: %s"
                        .formatted(start.at() - cancelled.at(), start.toLine())));
                }
            }
        }
    }

    List<Violation> violations() {
        return this.violations;
    }

}
