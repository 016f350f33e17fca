package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.delayqueue.faults.Event.Kind;

/**
 * What a Redis had acknowledged and did not know any more when it came back.
 *
 * @param sends answers to sends whose message was never handled to a good end
 * @param acknowledgements answers to acknowledgements whose message was handled again
 * @param cancels answers to cancels whose message was handled
 */
record Losses(List<Event> sends, List<Event> acknowledgements, List<Event> cancels) {

    /**
     * Looks for losses.
     * @param killedAt when Redis was killed, in microseconds
     */
    static Losses in(History history, long killedAt) {
        Map<String, Sent> sent = Sent.in(history);
        Set<String> done = new HashSet<>();
        Map<String, Set<String>> doneById = new LinkedHashMap<>();
        for (Event start : history.of(Kind.HANDLE)) {
            Event end = history.endOf(start).filter((event) -> event.is("result", "ok")).orElse(null);
            if (end != null) {
                done.add(start.get("number"));
            }
            if (end != null && end.at() <= killedAt) {
                doneById.computeIfAbsent(start.id(), (none) -> new HashSet<>()).add(start.get("number"));
            }
        }
        history.of(Kind.LETTER).forEach((letter) -> done.add(letter.get("number")));
        List<Event> sends = new ArrayList<>();
        for (Event begin : history.of(Kind.SEND)) {
            Sent message = sent.get(begin.get("number"));
            if (message != null && message.isAcknowledged() && !message.isExcused()
                    && !done.contains(message.number())) {
                sends.add(history.endOf(begin).orElseThrow());
            }
        }
        return new Losses(sends, acknowledgements(history, killedAt, doneById), cancels(history, killedAt, sent));
    }

    private static List<Event> acknowledgements(History history, long killedAt, Map<String, Set<String>> doneById) {
        Set<String> again = new HashSet<>();
        history.of(Kind.HANDLE)
            .stream()
            .filter((start) -> start.at() > killedAt)
            .filter((start) -> doneById.getOrDefault(start.id(), Set.of()).contains(start.get("number")))
            .forEach((start) -> again.add(start.id()));
        return history.of(Kind.SETTLE_END)
            .stream()
            .filter((end) -> end.is("op", "acknowledge") && end.is("result", "true") && end.at() < killedAt)
            .filter((end) -> again.contains(end.id()))
            .toList();
    }

    private static List<Event> cancels(History history, long killedAt, Map<String, Sent> sent) {
        Map<String, Event> cancelled = new LinkedHashMap<>();
        history.of(Kind.CANCEL_END)
            .stream()
            .filter((end) -> end.is("result", "CANCELLED") && end.at() < killedAt)
            .forEach((end) -> cancelled.put(end.id(), end));
        Set<Event> undone = new HashSet<>();
        for (Event start : history.of(Kind.HANDLE)) {
            Event cancel = cancelled.get(start.id());
            Sent message = sent.get(start.get("number"));
            if (cancel != null && message != null && message.endAt() < cancel.at() && start.at() > killedAt) {
                undone.add(cancel);
            }
        }
        return List.copyOf(undone);
    }

    /** All answers that Redis went back on. */
    List<Event> all() {
        List<Event> all = new ArrayList<>(this.sends);
        all.addAll(this.acknowledgements);
        all.addAll(this.cancels);
        return all;
    }

    @Override
    public String toString() {
        return "%d acknowledged sends lost, %d acknowledged messages handled again, %d cancels undone"
            .formatted(this.sends.size(), this.acknowledgements.size(), this.cancels.size());
    }

}
