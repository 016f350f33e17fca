package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.faults.Event.Kind;
import org.jspecify.annotations.Nullable;

/**
 * A message that somebody sent, with what is known of the call and of calls that changed
 * what became of it. Threads: confined to one.
 */
final class Sent {

    private static final long MILLI = 1_000;

    private final Event begin;

    private final @Nullable Event end;

    private final List<Change> reschedules = new ArrayList<>();

    private boolean excused;

    private Sent(Event begin, @Nullable Event end) {
        this.begin = begin;
        this.end = end;
    }

    /** All that was sent, by number. */
    static Map<String, Sent> in(History history) {
        Map<String, Sent> sent = new LinkedHashMap<>();
        Map<String, List<Sent>> byId = new LinkedHashMap<>();
        for (Event begin : history.of(Kind.SEND)) {
            Sent message = new Sent(begin, history.endOf(begin).orElse(null));
            sent.put(message.number(), message);
            byId.computeIfAbsent(message.id(), (none) -> new ArrayList<>()).add(message);
        }
        for (Event cancel : history.of(Kind.CANCEL)) {
            Event end = history.endOf(cancel).orElse(null);
            if (end == null || !end.is("result", "NOT_FOUND")) {
                byId.getOrDefault(cancel.id(), List.of()).forEach((message) -> message.mayBeGone(end));
            }
        }
        for (Event reschedule : history.of(Kind.RESCHEDULE)) {
            Change change = Change.of(reschedule, history.endOf(reschedule).orElse(null));
            if (change.possible()) {
                byId.getOrDefault(reschedule.id(), List.of()).forEach((message) -> message.reschedules.add(change));
            }
        }
        byId.values().forEach(Sent::noteReplacements);
        return sent;
    }

    private static void noteReplacements(List<Sent> ofOneId) {
        for (Sent earlier : ofOneId) {
            for (Sent later : ofOneId) {
                boolean replaces = later != earlier && later.begin.is("mode", "REPLACE") && !later.failedForSure()
                        && later.endAt() >= earlier.begin.at();
                earlier.excused = earlier.excused || replaces;
            }
        }
    }

    private void mayBeGone(@Nullable Event cancelEnd) {
        // A cancel that was over before this was sent says nothing of it.
        this.excused = this.excused || cancelEnd == null || cancelEnd.at() >= this.begin.at();
    }

    String number() {
        return this.begin.get("number");
    }

    /** Its id, which only the answer tells when it was generated. */
    String id() {
        return (this.begin.id().isEmpty() && this.end != null) ? this.end.id() : this.begin.id();
    }

    /** Whether its handler never ends well. */
    boolean isDoomed() {
        return this.begin.is("fate", "DOOMED");
    }

    /** Whether its content is in the store by the answer. */
    boolean isAcknowledged() {
        return this.end != null && (this.end.is("outcome", "SCHEDULED") || this.end.is("outcome", "REPLACED")
                || this.end.is("outcome", "AFTER_CURRENT"));
    }

    boolean isUnknown() {
        return this.end == null || this.end.is("effect", "UNKNOWN");
    }

    boolean failedForSure() {
        return this.end != null && (this.end.is("effect", "NONE") || this.end.is("outcome", "KEPT"));
    }

    /** Whether it may be gone unhandled: cancelled or replaced. */
    boolean isExcused() {
        return this.excused;
    }

    long endAt() {
        return (this.end == null) ? Long.MAX_VALUE : this.end.at();
    }

    /** The earliest time at which a handler that started then was allowed to. */
    long earliestDue(long startedAt) {
        Change last = null;
        long earliest = due();
        for (Change change : this.reschedules) {
            earliest = Math.min(earliest, change.earliest());
            if (last == null || change.begin() > last.begin()) {
                last = change;
            }
        }
        // The last one counts alone if it was done before and by the answer happened.
        boolean settled = last != null && last.certain() && last.end() < startedAt
                && this.reschedules.stream().allMatch(last::isAfter);
        return settled ? last.earliest() : earliest;
    }

    /** When it was due by the send alone. */
    long due() {
        if (this.end != null && this.end.fact("due") != null) {
            return this.end.micros("due");
        }
        return this.begin.at() / MILLI * MILLI + this.begin.micros("delay") * MILLI;
    }

    boolean isRescheduled() {
        return !this.reschedules.isEmpty();
    }

    @Override
    public String toString() {
        return this.begin.toLine() + " -> " + ((this.end == null) ? "no answer" : this.end.toLine());
    }

    /** A reschedule that may have happened. */
    private record Change(long begin, long end, long earliest, boolean certain, boolean possible) {

        static Change of(Event begin, @Nullable Event end) {
            long earliest = begin.at() / MILLI * MILLI + begin.micros("delay") * MILLI;
            boolean certain = end != null && end.is("result", "RESCHEDULED");
            boolean possible = certain || end == null || end.is("effect", "UNKNOWN");
            return new Change(begin.at(), (end == null) ? Long.MAX_VALUE : end.at(), earliest, certain, possible);
        }

        boolean isAfter(Change other) {
            return other == this || other.end < this.begin;
        }

    }

}
