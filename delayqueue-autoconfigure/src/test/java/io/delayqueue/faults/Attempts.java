package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import io.delayqueue.faults.Held.Settlement;
import io.delayqueue.faults.Verdict.Violation;

/**
 * Counts what was tried: each failure and each lapse after a recorded start once, and
 * nothing else (P9, P12); and a retry is no earlier than it was to be (P2). Threads:
 * confined to one.
 */
final class Attempts {

    private final Map<String, Sent> sent;

    private final List<Violation> violations = new ArrayList<>();

    Attempts(Map<String, Sent> sent, List<Held> held) {
        this.sent = sent;
        Held.by(Held::number, held).forEach(this::lookAt);
    }

    /** Leases of one message, the earliest first. */
    private void lookAt(String number, List<Held> leases) {
        Sent message = this.sent.get(number);
        // A send that was made again may have begun anew.
        if (message == null || message.isRedriven() || leases.get(0).now() <= message.endAt()) {
            return;
        }
        for (int i = 0; i < leases.size(); i++) {
            Held lease = leases.get(i);
            List<Held> earlier = leases.subList(0, i);
            compare("failures", lease, count(earlier, (other) -> mayHaveFailed(other, lease)),
                    count(earlier, (other) -> hasFailed(other, lease)));
            compare("lapses", lease, count(earlier, (other) -> mayHaveStarted(other, lease)),
                    count(earlier, (other) -> hasLapsed(other, lease)));
            if (!message.isRescheduled()) {
                earlier.forEach((other) -> lookForEarly(other, lease));
            }
            earlier.forEach((other) -> lookForReturn(other, lease));
        }
    }

    private void compare(String what, Held lease, long most, long least) {
        long counted = lease.claimed().micros(what);
        if (counted > most || counted < least) {
            report("P9", "%d %s counted, and there were %d to %d: %s", counted, what, least, most, lease.toLine());
        }
    }

    private static long count(List<Held> leases, Predicate<Held> condition) {
        return leases.stream().filter(condition).count();
    }

    private static boolean mayHaveFailed(Held other, Held lease) {
        return other.any((end) -> end.is("retry") && end.possibleBefore(lease.claimed().at()));
    }

    private static boolean hasFailed(Held other, Held lease) {
        return other.any((end) -> end.is("retry") && end.acceptedBefore(lease.now()));
    }

    private static boolean mayHaveStarted(Held other, Held lease) {
        return other.any((start) -> start.is("start") && start.possibleBefore(lease.claimed().at()));
    }

    private static boolean hasLapsed(Held other, Held lease) {
        return other.any((start) -> start.is("start") && start.acceptedBefore(lease.now()))
                && other.endedFrom() > lease.claimed().at();
    }

    private void lookForEarly(Held other, Held lease) {
        for (Settlement end : other.settlements()) {
            if (end.accepted() && (end.is("retry") || end.is("release"))) {
                long due = other.firstOf(end.begin().get("op")) + end.begin().micros("delay") * 1_000;
                if (lease.now() > end.begin().at() && lease.now() + Held.ROUNDING < due) {
                    report("P2", "given back until %d, and claimed before: %s", due, lease.toLine());
                }
            }
        }
    }

    /** What is over does not come back. */
    private void lookForReturn(Held other, Held lease) {
        if (other.any((end) -> end.endsMessage() && end.acceptedBefore(lease.now()))) {
            report("P1", "over, and yet claimed again: %s", lease.toLine());
        }
    }

    List<Violation> violations() {
        return this.violations;
    }

    private void report(String promise, String text, Object... values) {
        this.violations.add(new Violation(promise, text.formatted(values)));
    }

}
