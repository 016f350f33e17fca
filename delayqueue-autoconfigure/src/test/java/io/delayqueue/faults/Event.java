package io.delayqueue.faults;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Something that happened: one line of a history.
 *
 * @param at when, in microseconds since the epoch, by the clock that Redis goes by
 * @param node who says so
 * @param call joins the begin of a call with its end and is no other's of that node; 0
 * for what is no call
 * @param id of the message, or empty
 */
record Event(long at, String node, long call, Kind kind, String id, Map<String, String> facts) {

    Event {
        facts = Map.copyOf(facts);
    }

    @Nullable String fact(String name) {
        return this.facts.get(name);
    }

    String get(String name) {
        String value = this.facts.get(name);
        if (value == null) {
            throw new IllegalStateException("No %s in %s".formatted(name, this));
        }
        return value;
    }

    long micros(String name) {
        return Long.parseLong(get(name));
    }

    boolean is(String name, String value) {
        return value.equals(this.facts.get(name));
    }

    /** As a line, without its end. */
    String toLine() {
        StringBuilder line = new StringBuilder();
        line.append(this.at).append('\t').append(this.node).append('\t').append(this.call).append('\t');
        line.append(this.kind).append('\t').append(clean(this.id));
        this.facts.forEach((name, value) -> line.append('\t').append(name).append('=').append(clean(value)));
        return line.toString();
    }

    /** From a line; {@code null} for one that its writer was killed in. */
    static @Nullable Event of(String line) {
        String[] fields = line.split("\t", -1);
        if (fields.length < 6 || !fields[fields.length - 1].equals(HistoryFile.END)) {
            return null;
        }
        Map<String, String> facts = new LinkedHashMap<>();
        for (int i = 5; i < fields.length - 1; i++) {
            int equals = fields[i].indexOf('=');
            facts.put(fields[i].substring(0, equals), fields[i].substring(equals + 1));
        }
        return new Event(Long.parseLong(fields[0]), fields[1], Long.parseLong(fields[2]), Kind.valueOf(fields[3]),
                fields[4], facts);
    }

    static long micros(Instant instant) {
        return instant.getEpochSecond() * 1_000_000 + instant.getNano() / 1_000;
    }

    private static String clean(String text) {
        return text.replace('\t', ' ').replace('\n', ' ').replace('\r', ' ');
    }

    /** What happens; each call begins and, unless its process dies, ends. */
    enum Kind {

        /** Number, queue, delay in ms, fate and mode; perhaps group, and ttl in ms. */
        SEND,

        /** Outcome and due time, or failed with an effect. */
        SEND_END,

        CANCEL, CANCEL_END, RESCHEDULE, RESCHEDULE_END,

        /** Of a dead letter: number; result as the product says it. */
        REDRIVE, REDRIVE_END, PURGE, PURGE_END,

        CLAIM,

        /**
         * One message of the answer to a claim: queue, number, token, the store's now,
         * the lease asked for in ms, due, failures, lapses; perhaps group, and expires.
         */
        CLAIMED,

        CLAIM_END,

        /**
         * Op is acknowledge, retry, release, dead-letter, extend or start; queue, token;
         * lease or delay in ms.
         */
        SETTLE,

        /** Result is true, false or failed. */
        SETTLE_END,

        /** A handler starts: number, queue, attempt, lapses; perhaps group. */
        HANDLE,

        /** It ends: result is ok or failed. */
        HANDLE_END,

        /** A dead letter at the end of the run: number, failures, lapses, died, cause. */
        LETTER,

        /**
         * What should not be there at the end, a key, a message or an exit code; and the
         * promise that it breaks.
         */
        LEFT,

        /** From here on the run is in the phase that facts name. */
        PHASE,

        /**
         * Something: its text, and its state, which is broken or mended; or a node that
         * dies, and is the one that says so, or is named as node.
         */
        FAULT,

        /** What a node or Redis uses: heap, threads, files and so on. */
        SAMPLE

    }

}
