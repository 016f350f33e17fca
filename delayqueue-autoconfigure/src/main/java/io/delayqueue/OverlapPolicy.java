package io.delayqueue;

/**
 * Decides about an occurrence of a schedule while the queue still holds earlier ones,
 * waiting or being handled.
 *
 * @see DelayedSchedule#overlap()
 */
public enum OverlapPolicy {

    /** Occurrences are handled concurrently. */
    ALLOW,

    /**
     * Occurrences of the schedule are handled one at a time, in the order of their due
     * times, which include the jitter: they are a
     * {@linkplain DelayedMessage.Builder#group(String) group}. An occurrence that is
     * retried delays those after it.
     */
    QUEUE,

    /**
     * An occurrence is skipped while the queue holds the last one that was sent. Dead
     * letters do not count.
     */
    SKIP

}
