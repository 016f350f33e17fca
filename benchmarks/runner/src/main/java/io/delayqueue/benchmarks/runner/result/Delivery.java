package io.delayqueue.benchmarks.runner.result;

import java.util.ArrayList;
import java.util.List;

/**
 * Whether each message was handled exactly once and not early.
 *
 * @param expected messages sent
 * @param missing not handled, lost or still waiting when the time was up
 * @param doubled handled once more than once
 * @param unexpected handled although their due time is hours away, or of another cell
 * @param early handled before the due time, in microseconds of the machine's clock
 * @param earlyByAMilli those of them that were early by a millisecond or more
 * @param earliestMicros the earliest, in microseconds before its due time
 */
public record Delivery(long expected, long missing, long doubled, long unexpected, long early, long earlyByAMilli,
        long earliestMicros) {

    /** Whether there is nothing to complain about. */
    public boolean isExact() {
        return this.missing == 0 && this.doubled == 0 && this.unexpected == 0 && this.early == 0;
    }

    /** Both together. */
    public Delivery plus(Delivery other) {
        return new Delivery(this.expected + other.expected, this.missing + other.missing, this.doubled + other.doubled,
                this.unexpected + other.unexpected, this.early + other.early, this.earlyByAMilli + other.earlyByAMilli,
                Math.max(this.earliestMicros, other.earliestMicros));
    }

    /** In words: "exact", or what is wrong. */
    public String describe() {
        List<String> faults = new ArrayList<>();
        add(faults, this.missing, "missing");
        add(faults, this.doubled, "doubled");
        add(faults, this.unexpected, "unexpected");
        add(faults, this.early,
                "early by up to %,d µs (%,d by 1 ms or more)".formatted(this.earliestMicros, this.earlyByAMilli));
        return faults.isEmpty() ? "exact" : String.join(", ", faults) + " of %,d".formatted(this.expected);
    }

    private static void add(List<String> faults, long count, String what) {
        if (count > 0) {
            faults.add("%,d %s".formatted(count, what));
        }
    }

}
