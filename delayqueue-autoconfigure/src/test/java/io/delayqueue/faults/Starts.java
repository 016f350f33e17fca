package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.delayqueue.faults.Event.Kind;
import io.delayqueue.faults.Held.Settlement;
import io.delayqueue.faults.Verdict.Violation;
import org.jspecify.annotations.Nullable;

/**
 * Looks at what was claimed and at handlers that started: with what was sent, not early
 * (P2), not expired, and with a lease that was live (P6). Threads: confined to one.
 */
final class Starts {

    /** An answer may be as old as the longest call; besides, handlers take a moment. */
    private static final long OLD = 1_500_000;

    private final History history;

    private final Map<String, Sent> sent;

    private final Map<String, List<Held>> held;

    private final boolean suspends;

    private final List<Violation> violations = new ArrayList<>();

    private int late;

    Starts(History history, Map<String, Sent> sent, List<Held> held) {
        this.history = history;
        this.sent = sent;
        this.held = Held.by(Held::number, held);
        this.suspends = history.of(Kind.FAULT).stream().anyMatch((fault) -> fault.is("text", "node suspended"));
        history.of(Kind.HANDLE).forEach(this::lookAtStart);
        held.forEach(this::lookAtClaim);
    }

    private void lookAtClaim(Held lease) {
        Sent message = this.sent.get(lease.number());
        if (message == null) {
            return;
        }
        lookAtContent(message, lease.claimed());
        // Rounded down, as the claim itself does it.
        long due = message.earliestDue(lease.now());
        if (lease.now() < due || lease.now() < lease.claimed().micros("due")) {
            report("P2", "claimed %d us early: %s, due at %d", due - lease.now(), lease.toLine(), due);
        }
        Long expiry = message.expiresAt();
        if (expiry != null && lease.now() >= expiry) {
            report("expiry", "claimed %d us after it expired: %s", lease.now() - expiry, lease.toLine());
        }
    }

    private void lookAtStart(Event start) {
        Sent message = this.sent.get(start.get("number"));
        if (message == null) {
            return;
        }
        if (message.failedForSure()) {
            report("P1", "a send failed with no effect, and yet: %s", start.toLine());
        }
        lookAtContent(message, start);
        Held lease = leaseOf(start);
        // What was claimed before a sender was answered may be due by a first run of the
        // send, of which the answer was lost.
        long due = message.earliestDue((lease != null) ? lease.now() : start.at());
        if (start.at() < due) {
            report("P2", "%d us early: %s, due at %d", due - start.at(), start.toLine(), due);
        }
        Long expiry = message.expiresAt();
        if (expiry != null && start.at() > expiry + OLD && !this.suspends) {
            report("expiry", "started %d us after it expired: %s", start.at() - expiry, start.toLine());
        }
        lookAtLease(start, lease);
    }

    private void lookAtLease(Event start, @Nullable Held lease) {
        if (lease == null) {
            report("P6", "started without a lease: %s", start.toLine());
        }
        else if (start.at() > mayLastUntil(lease)) {
            this.late++;
            // A process that is suspended between its last look and the first line of the
            // handler is the one gap that is left.
            if (!this.suspends) {
                report("P6", "started %d us after its lease: %s", start.at() - mayLastUntil(lease), start.toLine());
            }
        }
    }

    /** The last that the node was given before. */
    private @Nullable Held leaseOf(Event start) {
        Held last = null;
        for (Held lease : this.held.getOrDefault(start.get("number"), List.of())) {
            if (lease.claimed().node().equals(start.node()) && lease.claimed().at() <= start.at()) {
                last = lease;
            }
        }
        return last;
    }

    /** With renewals that may have happened. */
    private static long mayLastUntil(Held lease) {
        long until = lease.untilAsOf(Long.MAX_VALUE);
        for (Settlement extend : lease.settlements()) {
            if (extend.is("extend") && extend.possible()) {
                long ended = (extend.end() != null) ? extend.end().at() : Long.MAX_VALUE / 2;
                until = Math.max(until, ended + extend.begin().micros("lease") * 1_000);
            }
        }
        return until;
    }

    private void lookAtContent(Sent message, Event event) {
        String group = event.fact("group");
        boolean same = event.get("queue").equals(message.queue())
                && (message.id().isEmpty() || event.id().equals(message.id()))
                && ((group != null) ? group : "").equals(message.group());
        if (!same) {
            report("P8", "not what was sent: %s as %s", message, event.toLine());
        }
    }

    /** How many handlers started after the lease that their node was given. */
    int late() {
        return this.late;
    }

    List<Violation> violations() {
        return this.violations;
    }

    private void report(String promise, String text, Object... values) {
        this.violations.add(new Violation(promise, text.formatted(values)));
    }

}
