package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.faults.Event.Kind;
import io.delayqueue.faults.Held.Settlement;
import io.delayqueue.faults.Verdict.Violation;
import org.jspecify.annotations.Nullable;

/**
 * Holds what senders were answered to what was claimed and handled: a message that was
 * cancelled or replaced is not (P6, P7), an id is held once (P8), and who is told that it
 * is there, or is not, is told the truth. Threads: confined to one.
 */
final class Answers {

    private final History history;

    private final Map<String, List<Sent>> byId;

    private final Map<String, List<Held>> held;

    /** Answers to cancels that removed something. */
    private final Map<String, List<Call>> cancelled = new HashMap<>();

    private final List<Violation> violations = new ArrayList<>();

    Answers(History history, Map<String, Sent> sent, List<Held> held) {
        this.history = history;
        this.byId = Sent.byId(sent);
        this.held = Held.by(Held::number, held);
        for (Event cancel : history.of(Kind.CANCEL)) {
            history.endOf(cancel)
                .filter((end) -> end.is("result", "CANCELLED"))
                .ifPresent((end) -> this.cancelled.computeIfAbsent(Sent.idInQueue(cancel), (none) -> new ArrayList<>())
                    .add(new Call(cancel.at(), end)));
        }
        history.of(Kind.CANCEL).forEach(this::lookAtCall);
        history.of(Kind.RESCHEDULE).forEach(this::lookAtCall);
        this.byId.values().forEach((ofOneId) -> ofOneId.forEach((message) -> lookAtSend(message, ofOneId)));
        history.of(Kind.HANDLE).forEach((start) -> lookAtStart(start, sent));
        sent.values().forEach(this::lookAtEnds);
    }

    private void lookAtCall(Event call) {
        Event end = this.history.endOf(call).orElse(null);
        if (end == null || end.fact("result") == null) {
            return;
        }
        List<Sent> ofOneId = this.byId.getOrDefault(Sent.idInQueue(call), List.of());
        boolean cancel = call.kind() == Kind.CANCEL;
        switch (end.get("result")) {
            case "CANCELLED" -> {
                expectGone("P6", "cancelled, and yet claimed", ofOneId, call.at(), end);
                expectThere(ofOneId, call, end);
            }
            case "RESCHEDULED" -> expectThere(ofOneId, call, end);
            case "LEASED" -> {
                if (cancel) {
                    expectGone("P7", "cancelled while leased, and tried again", ofOneId, call.at(), end);
                }
            }
            case "NOT_FOUND" -> expectGone("P7", "not found, and yet claimed", ofOneId, call.at(), end);
            default -> throw new IllegalArgumentException(end.toLine());
        }
    }

    private void lookAtSend(Sent message, List<Sent> ofOneId) {
        List<Sent> others = ofOneId.stream()
            .filter((other) -> other != message && other.group().equals(message.group()))
            .toList();
        Event end = message.end();
        if (end == null) {
            return;
        }
        if (message.isScheduled()) {
            expectGone("P8", "let in twice", others, message.beganAt(), end);
        }
        else if (message.supersedes()) {
            expectGone("P7", "replaced, and yet claimed", others, message.beganAt(), end);
        }
        else if (message.isKept() && others.stream().noneMatch((other) -> mayBeThere(other, message.beganAt(), end))) {
            report("P8", "kept what was not there: %s", end.toLine());
        }
    }

    /** Nothing that was sent before is claimed afterwards. */
    private void expectGone(String promise, String text, List<Sent> messages, long before, Event after) {
        for (Sent message : messages) {
            if (message.endAt() >= before || message.isRedriven()) {
                continue;
            }
            for (Held held : this.held.getOrDefault(message.number(), List.of())) {
                if (held.now() > after.at()) {
                    report(promise, "%s: %s after %s", text, held.toLine(), after.toLine());
                }
            }
        }
    }

    /** A call that found something, where something may have been. */
    private void expectThere(List<Sent> messages, Event call, Event end) {
        if (messages.stream().noneMatch((message) -> mayBeThere(message, call.at(), end))) {
            report("P7", "found what was not there: %s", end.toLine());
        }
    }

    private boolean mayBeThere(Sent message, long from, Event end) {
        return message.beganAt() < end.at() && !message.failedForSure() && !isOverBefore(message, from);
    }

    /** Whether it was over for sure; a send that is made again may bring it back. */
    private boolean isOverBefore(Sent message, long time) {
        if (message.isRedriven()) {
            return false;
        }
        boolean settled = this.held.getOrDefault(message.number(), List.of())
            .stream()
            .flatMap((lease) -> lease.settlements().stream())
            .anyMatch((settlement) -> settlement.endsMessage() && settlement.acceptedBefore(time)
                    && settlement.begin().at() > message.endAt());
        return settled || cancelled(message, time) != null;
    }

    /** The answer to a cancel of the message that was over by then. */
    private @Nullable Event cancelled(Sent message, long time) {
        return this.cancelled.getOrDefault(message.idInQueue(), List.of())
            .stream()
            .filter((cancel) -> message.endAt() < cancel.at() && cancel.end().at() < time)
            .map(Call::end)
            .findFirst()
            .orElse(null);
    }

    private void lookAtStart(Event start, Map<String, Sent> sent) {
        Sent message = sent.get(start.get("number"));
        if (message == null || message.isRedriven()) {
            return;
        }
        Event end = cancelled(message, start.at());
        if (end != null) {
            report("P6", "cancelled, and started %d us later: %s", start.at() - end.at(), start.toLine());
        }
    }

    /** An end that is certain happens once. */
    private void lookAtEnds(Sent message) {
        if (message.isRedriven()) {
            return;
        }
        List<Settlement> ends = this.held.getOrDefault(message.number(), List.of())
            .stream()
            .flatMap((lease) -> lease.settlements().stream())
            .filter((end) -> end.endsMessage() && end.accepted() && end.begin().at() > message.endAt())
            .toList();
        if (ends.stream().map((end) -> end.begin().get("token")).distinct().count() > 1) {
            report("P5", "over twice: %s", ends);
        }
        Event cancel = cancelled(message, Long.MAX_VALUE);
        if (cancel != null && !ends.isEmpty() && this.byId.get(message.idInQueue()).size() == 1) {
            report("P7", "cancelled and settled: %s and %s", cancel.toLine(), ends);
        }
    }

    List<Violation> violations() {
        return this.violations;
    }

    private void report(String promise, String text, Object... values) {
        this.violations.add(new Violation(promise, text.formatted(values)));
    }

    private record Call(long at, Event end) {
    }

}
