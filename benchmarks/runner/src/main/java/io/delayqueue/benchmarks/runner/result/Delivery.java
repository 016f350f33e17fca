package io.delayqueue.benchmarks.runner.result;

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

}
