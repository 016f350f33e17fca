package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.delayqueue.faults.Event.Kind;
import io.delayqueue.faults.Verdict.Violation;

/**
 * Holds a history to the contract. What nobody lived to see the end of may have happened
 * or not: only what cannot be right either way is a violation. Threads: confined to one.
 */
final class Judge {

    private final History history;

    private final int maxAttempts;

    private final int maxLapses;

    private final List<Violation> violations = new ArrayList<>();

    private final Map<String, Sent> sent;

    private final List<Held> held;

    private final Map<String, List<Event>> handled = new TreeMap<>();

    private final Map<String, List<Event>> letters = new TreeMap<>();

    private Judge(History history, int maxAttempts, int maxLapses) {
        this.history = history;
        this.maxAttempts = maxAttempts;
        this.maxLapses = maxLapses;
        this.sent = Sent.in(history);
        this.held = Held.in(history);
        group(Kind.HANDLE, this.handled);
        group(Kind.LETTER, this.letters);
    }

    private void group(Kind kind, Map<String, List<Event>> into) {
        this.history.of(kind)
            .forEach((event) -> into.computeIfAbsent(event.get("number"), (none) -> new ArrayList<>()).add(event));
    }

    /**
     * @param maxAttempts of all listeners
     * @param maxLapses of all listeners
     */
    static Verdict judge(History history, int maxAttempts, int maxLapses) {
        Judge judge = new Judge(history, maxAttempts, maxLapses);
        judge.sent.values().forEach(judge::lookAt);
        judge.lookForStrangers();
        Starts starts = new Starts(history, judge.sent, judge.held);
        judge.violations.addAll(starts.violations());
        judge.violations.addAll(new Leases(judge.held).violations());
        judge.violations.addAll(new Attempts(judge.sent, judge.held).violations());
        judge.violations.addAll(new Answers(history, judge.sent, judge.held).violations());
        judge.violations.addAll(new GroupOrder(judge.sent, judge.held).violations());
        judge.history.of(Kind.LEFT)
            .forEach((event) -> judge.violations
                .add(new Violation(event.get("promise"), "left over: " + event.toLine())));
        Map<String, Integer> counts = judge.counts();
        counts.put("started after their lease", starts.late());
        return new Verdict(judge.violations, new Lateness(history, judge.sent).byPhase(), counts,
                new Deaths(history, judge.held).delays());
    }

    private void lookAt(Sent message) {
        List<Event> starts = this.handled.getOrDefault(message.number(), List.of());
        List<Event> dead = this.letters.getOrDefault(message.number(), List.of());
        // A redrive takes two steps in a queue that was spread, and may end between them.
        if (dead.size() > 1 && !message.isRedriven()) {
            report("P9", "%d dead letters of %s", dead.size(), message);
        }
        boolean done = starts.stream().anyMatch(this::endedWell);
        if (message.isDoomed() && done) {
            report("checker", "doomed, and yet handled: %s", message);
        }
        if (message.isAcknowledged() && !done && dead.isEmpty() && !message.isExcused()) {
            report("P1", "lost: %s, which was started %d times", message, starts.size());
        }
        for (Event start : starts) {
            if (start.micros("attempt") > this.maxAttempts || start.micros("lapses") >= this.maxLapses) {
                report("P9", "one attempt too many: %s", start.toLine());
            }
        }
        dead.forEach((letter) -> lookAt(message, letter));
        if (message.isAcknowledged() && message.due() < message.askedFor()) {
            report("P2", "told to be due earlier than asked for: %s", message);
        }
    }

    private void lookAt(Sent message, Event letter) {
        // A process may die between a handler's good end and its acknowledgement, and
        // so may the next.
        boolean lapsed = letter.micros("lapses") >= this.maxLapses;
        boolean failed = letter.micros("failures") >= this.maxAttempts;
        boolean expired = letter.is("cause", "expired");
        if (message.failedForSure()) {
            report("P1", "a send failed with no effect, and yet: %s", letter.toLine());
        }
        if (expired) {
            Long expiry = message.earliestExpiry();
            if (!message.expires() || (expiry != null && letter.micros("died") < expiry)) {
                report("P9", "expired before its time: %s: %s", message, letter.toLine());
            }
            return;
        }
        if (!lapsed && !message.isDoomed()) {
            report("P9", "dead for no reason: %s: %s", message, letter.toLine());
        }
        else if (!lapsed && !failed) {
            report("P9", "died too early: %s: %s", message, letter.toLine());
        }
        if (letter.micros("failures") > this.maxAttempts || letter.micros("lapses") > this.maxLapses) {
            report("P9", "died too late: %s: %s", message, letter.toLine());
        }
        String cause = message.causeOfDeath();
        if (!lapsed && cause != null && !isNamed(cause, message, letter)) {
            report("P9", "dead of another cause: %s: %s", message, letter.toLine());
        }
    }

    private static boolean isNamed(String cause, Sent message, Event letter) {
        String expected = cause.endsWith("fate of") ? cause + " " + message.number() : cause;
        return letter.get("cause").contains(expected);
    }

    private boolean endedWell(Event start) {
        return this.history.endOf(start).filter((end) -> end.is("result", "ok")).isPresent();
    }

    /** What was handled or died, and nobody sent. */
    private void lookForStrangers() {
        Set<String> strangers = new HashSet<>(this.handled.keySet());
        strangers.addAll(this.letters.keySet());
        this.held.forEach((lease) -> strangers.add(lease.number()));
        strangers.removeAll(this.sent.keySet());
        strangers.forEach((number) -> report("P1", "nobody sent '%s'", number));
    }

    private Map<String, Integer> counts() {
        Map<String, Integer> counts = new TreeMap<>();
        this.history.all().forEach((event) -> counts.merge(event.kind().name(), 1, Integer::sum));
        counts.put("acknowledged sends", (int) this.sent.values().stream().filter(Sent::isAcknowledged).count());
        counts.put("sends of unknown effect", (int) this.sent.values().stream().filter(Sent::isUnknown).count());
        counts.put("handled more than once",
                (int) this.handled.values().stream().filter((starts) -> starts.size() > 1).count());
        counts.put("handled again after a good end",
                (int) this.handled.values().stream().filter(this::isHandledAgain).count());
        this.history.of(Kind.FAULT)
            .stream()
            .filter((event) -> event.is("state", "dies"))
            .forEach((event) -> counts.merge(event.get("text"), 1, Integer::sum));
        counts.put("leases that ran out",
                (int) this.held.stream().filter((lease) -> lease.claimed().is("suspect", "true")).count());
        Map<String, Integer> refused = new HashMap<>();
        this.history.of(Kind.SETTLE_END)
            .forEach((event) -> refused.merge("settlements " + event.get("result"), 1, Integer::sum));
        counts.putAll(refused);
        return counts;
    }

    private boolean isHandledAgain(List<Event> starts) {
        return starts.subList(0, starts.size() - 1).stream().anyMatch(this::endedWell);
    }

    private void report(String promise, String text, Object... values) {
        this.violations.add(new Violation(promise, text.formatted(values)));
    }

}
