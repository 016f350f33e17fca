package io.delayqueue.faults;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.faults.Event.Kind;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A history that is made up: what happens, in milliseconds from any start, with facts
 * that suit one another unless others are given by name and value. Threads: confined to
 * one.
 */
final class Story {

    static final long LEASE = 2_000;

    private final List<Event> events = new ArrayList<>();

    private final Map<String, Map<String, String>> sends = new LinkedHashMap<>();

    private long calls;

    /** A message that is sent, claimed, handled and acknowledged as it should be. */
    Story well(String number, long at) {
        return sent(number, at).claimed("n0", number, at + 10)
            .handled("n0", number, at + 11, "ok")
            .settled("n0", number, at + 10, "acknowledge", at + 20, "true");
    }

    /**
     * A send, which ends a millisecond later or when it is {@code answered}; {@code id}
     * is another than the number's, {@code end} is {@code none} if nobody lived to see
     * it.
     */
    Story sent(String number, long at, String... others) {
        Map<String, String> facts = facts(others, "number", number, "queue", "plain", "fate", "QUICK", "mode", "KEEP",
                "delay", "0", "outcome", "SCHEDULED");
        this.sends.put(number, facts);
        String id = facts.getOrDefault("id", number);
        long call = ++this.calls;
        Map<String, String> begin = new LinkedHashMap<>(facts);
        begin.keySet().removeAll(List.of("outcome", "effect", "due", "end", "id", "answered"));
        add(at, "s", call, Kind.SEND, id, begin);
        if (facts.containsKey("end")) {
            return this;
        }
        Map<String, String> end = new LinkedHashMap<>(Map.of("number", number));
        if (facts.containsKey("effect")) {
            end.put("effect", facts.get("effect"));
        }
        else {
            long due = at + Long.parseLong(facts.get("delay"));
            end.put("outcome", facts.get("outcome"));
            end.put("due", facts.getOrDefault("due", micros(due)));
        }
        long answered = Long.parseLong(facts.getOrDefault("answered", Long.toString(at + 1)));
        add(answered, "s", call, Kind.SEND_END, id, end);
        return this;
    }

    Story claimed(String node, String number, long at, String... others) {
        Map<String, String> facts = facts(others, "queue", sendFact(number, "queue", "plain"), "token",
                micros(at + LEASE), "now", micros(at), "lease", Long.toString(LEASE), "number", number, "due",
                micros(at), "failures", "0", "lapses", "0", "suspect", "false");
        putGroup(number, facts);
        add(at, node, ++this.calls, Kind.CLAIMED, idOf(number), facts);
        return this;
    }

    /** What a node does to the lease that it claimed then. */
    Story settled(String node, String number, long claimedAt, String operation, long at, String result,
            String... others) {
        long call = ++this.calls;
        add(at, node, call, Kind.SETTLE, idOf(number),
                facts(others, "op", operation, "queue", sendFact(number, "queue", "plain"), "token",
                        micros(claimedAt + LEASE), "lease", Long.toString(LEASE), "delay", "0"));
        if (!result.equals("none")) {
            add(at + 1, node, call, Kind.SETTLE_END, idOf(number), facts(new String[] { "result", result }));
        }
        return this;
    }

    /** A handler that runs for a millisecond; the result {@code none} is no end. */
    Story handled(String node, String number, long at, String result, String... others) {
        long call = ++this.calls;
        Map<String, String> facts = facts(others, "number", number, "queue", sendFact(number, "queue", "plain"),
                "attempt", "1", "lapses", "0");
        putGroup(number, facts);
        add(at, node, call, Kind.HANDLE, idOf(number), facts);
        if (!result.equals("none")) {
            add(at + 1, node, call, Kind.HANDLE_END, idOf(number),
                    facts(new String[] { "number", number, "result", result }));
        }
        return this;
    }

    /** Claimed, handled in vain, and given back by a retry. */
    Story failed(String node, String number, long at, String... others) {
        String failures = facts(others).getOrDefault("failures", "0");
        return claimed(node, number, at, others)
            .handled(node, number, at + 1, "failed", "attempt", Integer.toString(Integer.parseInt(failures) + 1))
            .settled(node, number, at, "retry", at + 3, "true");
    }

    /** A cancel or a reschedule, which ends a millisecond later. */
    Story called(Kind kind, String id, long at, String result, String... others) {
        long call = ++this.calls;
        add(at, "s", call, kind, id, facts(others, "queue", "plain", "delay", "0"));
        Kind end = (kind == Kind.CANCEL) ? Kind.CANCEL_END : Kind.RESCHEDULE_END;
        if (!result.equals("none")) {
            boolean answered = !result.equals("UNKNOWN") && !result.equals("NONE");
            add(at + 1, "s", call, end, id, facts(new String[] { answered ? "result" : "effect", result }));
        }
        return this;
    }

    Story cancelled(String id, long at, String result) {
        return called(Kind.CANCEL, id, at, result);
    }

    Story letter(String number, String... others) {
        add(90_000, "run", 0, Kind.LETTER, idOf(number), facts(others, "number", number, "failures", "3", "lapses", "0",
                "died", micros(80_000), "cause", "It is the fate of " + number));
        return this;
    }

    Story fault(String text, long at, String state, String... others) {
        return event(Kind.FAULT, at, facts(others, "text", text, "state", state));
    }

    Story event(Kind kind, String node, long at) {
        add(at, node, ++this.calls, kind, "", Map.of());
        return this;
    }

    Story phase(String name, long at) {
        return event(Kind.PHASE, at, Map.of("name", name));
    }

    Story left(String text) {
        return event(Kind.LEFT, 90_000, Map.of("promise", "P10", "text", text));
    }

    private Story event(Kind kind, long at, Map<String, String> facts) {
        add(at, "run", 0, kind, "", facts);
        return this;
    }

    List<Event> events() {
        return this.events;
    }

    /** Fails unless the judge finds what begins so, in that order, and no more. */
    void expect(String... violations) {
        List<String> found = judged().violations().stream().map(Object::toString).toList();
        assertThat(found).hasSameSizeAs(violations);
        for (int i = 0; i < violations.length; i++) {
            assertThat(found.get(i)).startsWith(violations[i]);
        }
    }

    /** Claimed and handled well by another, who finds it a suspect. */
    void again(String number, long at) {
        claimed("n1", number, at, "suspect", "true").settled("n1", number, at, "start", at + 1, "true")
            .handled("n1", number, at + 3, "ok")
            .settled("n1", number, at, "acknowledge", at + 10, "true");
    }

    Verdict judged() {
        return Judge.judge(new History(this.events), FaultRun.MAX_ATTEMPTS, FaultRun.MAX_LAPSES);
    }

    private void add(long at, String node, long call, Kind kind, String id, Map<String, String> facts) {
        this.events.add(new Event(at * 1_000, node, call, kind, id, facts));
    }

    private void putGroup(String number, Map<String, String> facts) {
        String group = sendFact(number, "group", "");
        if (!group.isEmpty()) {
            facts.putIfAbsent("group", group);
        }
    }

    private String idOf(String number) {
        return sendFact(number, "id", number);
    }

    private String sendFact(String number, String name, String otherwise) {
        return this.sends.getOrDefault(number, Map.of()).getOrDefault(name, otherwise);
    }

    private static String micros(long millis) {
        return Long.toString(millis * 1_000);
    }

    private static Map<String, String> facts(String[] others, String... facts) {
        Map<String, String> all = new LinkedHashMap<>();
        for (int i = 0; i < facts.length; i += 2) {
            all.put(facts[i], facts[i + 1]);
        }
        for (int i = 0; i < others.length; i += 2) {
            all.put(others[i], others[i + 1]);
        }
        return all;
    }

}
