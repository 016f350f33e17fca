package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;

import io.delayqueue.faults.Event.Kind;
import org.jspecify.annotations.Nullable;

/**
 * A lease that somebody was given, with what its holder did to it; all times in
 * microseconds of the store. Threads: confined to one.
 */
final class Held {

    /** The store's now comes rounded down to the millisecond. */
    static final long ROUNDING = 1_000;

    private final Event claimed;

    private final List<Settlement> settlements = new ArrayList<>();

    /** From when on its holder may have ended it. */
    private long endedFrom = Long.MAX_VALUE;

    private Held(Event claimed) {
        this.claimed = claimed;
    }

    /** All leases of a history, by the time of their claims. */
    static List<Held> in(History history) {
        Map<String, Held> byToken = new HashMap<>();
        List<Held> all = new ArrayList<>();
        for (Event claimed : history.of(Kind.CLAIMED)) {
            Held held = new Held(claimed);
            byToken.put(key(claimed), held);
            all.add(held);
        }
        for (Event begin : history.of(Kind.SETTLE)) {
            Held held = byToken.get(key(begin));
            if (held != null) {
                Event end = history.endOf(begin).orElse(null);
                held.add(new Settlement(begin, end, end == null || history.isDisturbed(begin.at(), end.at())));
            }
        }
        all.sort((one, other) -> Long.compare(one.now(), other.now()));
        return all;
    }

    /** The leases in their order, grouped; those without a key are left out. */
    static Map<String, List<Held>> by(Function<Held, @Nullable String> key, List<Held> all) {
        Map<String, List<Held>> grouped = new HashMap<>();
        for (Held held : all) {
            String of = key.apply(held);
            if (of != null) {
                grouped.computeIfAbsent(of, (none) -> new ArrayList<>()).add(held);
            }
        }
        return grouped;
    }

    private static String key(Event event) {
        return event.get("queue") + '/' + event.id() + '/' + event.get("token");
    }

    private void add(Settlement settlement) {
        this.settlements.add(settlement);
        if (settlement.ends() && settlement.possible()) {
            this.endedFrom = Math.min(this.endedFrom, settlement.begin().at());
        }
    }

    Event claimed() {
        return this.claimed;
    }

    /** When the store gave it, rounded down. */
    long now() {
        return this.claimed.micros("now");
    }

    String number() {
        return this.claimed.get("number");
    }

    String idInQueue() {
        return this.claimed.get("queue") + " id " + this.claimed.id();
    }

    @Nullable String groupInQueue() {
        String group = this.claimed.fact("group");
        return (group != null) ? this.claimed.get("queue") + " group " + group : null;
    }

    /**
     * Until when it was live for sure, unless its holder ended it, by what was asked for
     * before a time.
     */
    long untilAsOf(long time) {
        long until = this.claimed.micros("token");
        for (Settlement extend : this.settlements) {
            if (extend.is("extend") && extend.accepted() && extend.begin().at() < time) {
                until = Math.max(until, extend.begin().at() + extend.begin().micros("lease") * 1_000);
            }
        }
        return until;
    }

    /** From when on its holder may have ended it. */
    long endedFrom() {
        return this.endedFrom;
    }

    List<Settlement> settlements() {
        return this.settlements;
    }

    /** When an operation was first asked for: it may have happened then. */
    long firstOf(String operation) {
        return this.settlements.stream()
            .filter((settlement) -> settlement.is(operation))
            .mapToLong((settlement) -> settlement.begin().at())
            .min()
            .orElseThrow();
    }

    boolean any(Predicate<Settlement> condition) {
        return this.settlements.stream().anyMatch(condition);
    }

    String toLine() {
        return this.claimed.toLine();
    }

    /**
     * What a holder made of his lease, or of a part of its time.
     *
     * @param end {@code null} if nobody lived to see it
     * @param disturbed whether a client may have made the call twice
     */
    record Settlement(Event begin, @Nullable Event end, boolean disturbed) {

        boolean is(String operation) {
            return this.begin.is("op", operation);
        }

        /** Whether it ends the lease, should it be accepted. */
        boolean ends() {
            return !is("extend") && !is("start");
        }

        /** Whether it ends the message, should it be accepted. */
        boolean endsMessage() {
            return is("acknowledge") || is("dead-letter");
        }

        boolean accepted() {
            return this.end != null && this.end.is("result", "true");
        }

        /**
         * Whether it may have happened: it was not refused, or it was when a client may
         * have made it again, after it was done.
         */
        boolean possible() {
            return this.end == null || this.disturbed || !this.end.is("result", "false");
        }

        boolean acceptedBefore(long time) {
            return this.end != null && accepted() && this.end.at() < time;
        }

        boolean possibleBefore(long time) {
            return possible() && this.begin.at() < time;
        }

    }

}
