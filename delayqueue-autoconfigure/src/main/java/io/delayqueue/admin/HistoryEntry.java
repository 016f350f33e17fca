package io.delayqueue.admin;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Holds one transition of a message, as a process recorded it. Contains no message
 * content, except what an exception message of a handler may quote.
 *
 * @param at when it happened, by the clock of the journal's database
 * @param event the transition
 * @param node the process that recorded it: application, host and process id
 * @param attempt the number of the attempt that it belongs to; {@code null} if it belongs
 * to none, or the claim is not recorded
 * @param detail the outcome, the due time or the cause, in one line; {@code null} for
 * none
 * @see MessageHistory
 */
public record HistoryEntry(Instant at, Event event, String node, @Nullable Integer attempt, @Nullable String detail) {

    /** Lists the transitions. */
    public enum Event {

        /** A send was answered; the detail is its outcome and the due time. */
        SENT,

        /** The due time was changed. */
        RESCHEDULED,

        /** The message was cancelled; the detail says whether it was being handled. */
        CANCELLED,

        /** A process leased the message. */
        CLAIMED,

        /** The handler failed; the detail is the cause. */
        FAILED,

        /** The message is due again because it failed. */
        RETRIED,

        /** The message is due again, and the attempt does not count. */
        RELEASED,

        /** The message was handled and acknowledged. */
        HANDLED,

        /** The message was found expired, and dropped or dead-lettered. */
        EXPIRED,

        /** The message was dead-lettered; the detail is the cause. */
        DEAD_LETTERED,

        /** The message of a dead letter is due again. */
        REDRIVEN,

        /** A dead letter of the message was deleted. */
        PURGED,

        /**
         * A settlement was rejected because the lease had ended; the detail is the
         * settlement.
         */
        LEASE_LOST

    }

}
