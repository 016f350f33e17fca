package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.faults.Event.Kind;
import io.delayqueue.faults.Job.Fate;
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

    private boolean redriven;

    private Sent(Event begin, @Nullable Event end) {
        this.begin = begin;
        this.end = end;
    }

    /** All that was sent, by number. */
    static Map<String, Sent> in(History history) {
        Map<String, Sent> sent = new LinkedHashMap<>();
        for (Event begin : history.of(Kind.SEND)) {
            Sent message = new Sent(begin, history.endOf(begin).orElse(null));
            sent.put(message.number(), message);
        }
        Map<String, List<Sent>> byId = byId(sent);
        for (Event cancel : history.of(Kind.CANCEL)) {
            Event end = history.endOf(cancel).orElse(null);
            if (mayHaveRemoved(cancel, end, history)) {
                byId.getOrDefault(idInQueue(cancel), List.of()).forEach((message) -> message.mayBeGone(end));
            }
        }
        for (Event reschedule : history.of(Kind.RESCHEDULE)) {
            Change change = Change.of(reschedule, history);
            if (change.possible()) {
                byId.getOrDefault(idInQueue(reschedule), List.of()).forEach((message) -> message.mayHave(change));
            }
        }
        history.of(Kind.REDRIVE).forEach((redrive) -> {
            Sent message = sent.get(redrive.get("number"));
            if (message != null) {
                message.redriven = true;
            }
        });
        history.of(Kind.PURGE).forEach((purge) -> {
            Sent message = sent.get(purge.get("number"));
            if (message != null) {
                message.excused = true;
            }
        });
        byId.values().forEach((ofOneId) -> noteReplacements(ofOneId, history));
        return sent;
    }

    /** What was sent with one id to one queue, for each. */
    static Map<String, List<Sent>> byId(Map<String, Sent> sent) {
        Map<String, List<Sent>> byId = new LinkedHashMap<>();
        sent.values()
            .forEach((message) -> byId.computeIfAbsent(message.idInQueue(), (none) -> new ArrayList<>()).add(message));
        return byId;
    }

    static String idInQueue(Event event) {
        return event.get("queue") + " id " + event.id();
    }

    /**
     * A cancel that a client makes again finds nothing, though it may have removed
     * something before.
     */
    private static boolean mayHaveRemoved(Event cancel, @Nullable Event end, History history) {
        return end == null || !end.is("result", "NOT_FOUND") || history.isDisturbed(cancel.at(), end.at());
    }

    private static void noteReplacements(List<Sent> ofOneId, History history) {
        for (Sent earlier : ofOneId) {
            for (Sent later : ofOneId) {
                boolean replaces = later != earlier && later.mayHaveReplaced(history)
                        && later.endAt() >= earlier.begin.at();
                earlier.excused = earlier.excused || replaces;
            }
        }
    }

    private boolean mayHaveReplaced(History history) {
        if (isUnknown() || supersedes()) {
            return true;
        }
        return !this.begin.is("mode", "KEEP") && !failedForSure() && history.isDisturbed(beganAt(), endAt());
    }

    private void mayBeGone(@Nullable Event cancelEnd) {
        // A cancel that was over before this was sent says nothing of it.
        this.excused = this.excused || cancelEnd == null || cancelEnd.is("effect", "UNKNOWN")
                || cancelEnd.at() >= this.begin.at();
    }

    private void mayHave(Change change) {
        if (change.end() >= this.begin.at()) {
            this.reschedules.add(change);
        }
    }

    String number() {
        return this.begin.get("number");
    }

    /** Its id, which only the answer tells when it was generated. */
    String id() {
        return (this.begin.id().isEmpty() && this.end != null) ? this.end.id() : this.begin.id();
    }

    String queue() {
        return this.begin.get("queue");
    }

    String idInQueue() {
        return queue() + " id " + id();
    }

    /** Its group; empty for none. */
    String group() {
        String group = this.begin.fact("group");
        return (group != null) ? group : "";
    }

    /** Whether its handler never ends well. */
    boolean isDoomed() {
        return causeOfDeath() != null;
    }

    /** What its dead letter names; {@code null} if it does not deserve one. */
    @Nullable String causeOfDeath() {
        return Fate.valueOf(this.begin.get("fate")).cause();
    }

    /** Whether its content is in the store by the answer. */
    boolean isAcknowledged() {
        return this.end != null && (isScheduled() || supersedes());
    }

    /** Whether the queue did not hold its id, by the answer. */
    boolean isScheduled() {
        return this.end != null && this.end.is("outcome", "SCHEDULED");
    }

    /** Whether it stands, by the answer, for all that was sent before with its id. */
    boolean supersedes() {
        return this.end != null && (this.end.is("outcome", "REPLACED") || this.end.is("outcome", "AFTER_CURRENT"));
    }

    /** Whether the queue held its id, by the answer. */
    boolean isKept() {
        return this.end != null && this.end.is("outcome", "KEPT");
    }

    boolean isUnknown() {
        return this.end == null || this.end.is("effect", "UNKNOWN");
    }

    boolean failedForSure() {
        return this.end != null && (this.end.is("effect", "NONE") || isKept());
    }

    /** Whether it may be gone unhandled: cancelled, replaced or purged. */
    boolean isExcused() {
        return this.excused;
    }

    /** Whether somebody wanted to have it back from the dead. */
    boolean isRedriven() {
        return this.redriven;
    }

    /** The answer; {@code null} if nobody lived to see it. */
    @Nullable Event end() {
        return this.end;
    }

    long beganAt() {
        return this.begin.at();
    }

    /**
     * When it was decided; never for sure where nobody was told, as what was held back on
     * its way may still arrive.
     */
    long endAt() {
        return (this.end == null || isUnknown()) ? Long.MAX_VALUE : this.end.at();
    }

    /** The earliest time at which a handler that started then was allowed to. */
    long earliestDue(long startedAt) {
        Change last = null;
        // What a client repeats when a reply is lost may be done by then, and is sent
        // anew.
        long earliest = (startedAt < endAt()) ? askedFor() : due();
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
        return askedFor();
    }

    /** The earliest time that it may be due, whatever the answer says. */
    long askedFor() {
        return this.begin.at() / MILLI * MILLI + this.begin.micros("delay") * MILLI;
    }

    /** From when on it must not be handled; {@code null} if never, or if nobody knows. */
    @Nullable Long expiresAt() {
        boolean known = this.end != null && this.end.fact("due") != null && !isRescheduled() && !this.redriven;
        return (known && expires()) ? due() + this.begin.micros("ttl") * MILLI : null;
    }

    /** Before when it does not expire; {@code null} if nobody knows. */
    @Nullable Long earliestExpiry() {
        boolean known = !isRescheduled() && !this.redriven;
        return (known && expires()) ? askedFor() + this.begin.micros("ttl") * MILLI : null;
    }

    boolean expires() {
        return this.begin.fact("ttl") != null;
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

        static Change of(Event begin, History history) {
            Event end = history.endOf(begin).orElse(null);
            long earliest = begin.at() / MILLI * MILLI + begin.micros("delay") * MILLI;
            boolean certain = end != null && end.is("result", "RESCHEDULED");
            // One that a client makes again may find what it has moved in other hands.
            boolean possible = certain || end == null || end.is("effect", "UNKNOWN")
                    || history.isDisturbed(begin.at(), end.at());
            boolean told = end != null && !end.is("effect", "UNKNOWN");
            return new Change(begin.at(), told ? end.at() : Long.MAX_VALUE, earliest, certain, possible);
        }

        boolean isAfter(Change other) {
            return other == this || other.end < this.begin;
        }

    }

}
