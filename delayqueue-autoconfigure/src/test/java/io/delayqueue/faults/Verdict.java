package io.delayqueue.faults;

import java.util.List;
import java.util.Map;

/**
 * What the judge found.
 *
 * @param lateness by the phase that a message was due in, in microseconds, ascending
 * @param counts how often what happened
 * @param delaysAfterDeaths from the death of a node until the messages that it held were
 * claimed again, in microseconds, ascending
 */
record Verdict(List<Violation> violations, Map<String, long[]> lateness, Map<String, Integer> counts,
        long[] delaysAfterDeaths) {

    Verdict {
        violations = List.copyOf(violations);
    }

    /**
     * A promise that was not kept.
     *
     * @param promise P1 to P12, or who is at fault instead
     */
    record Violation(String promise, String text) {

        @Override
        public String toString() {
            return this.promise + " " + this.text;
        }

    }

}
