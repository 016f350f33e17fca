package io.delayqueue.journal;

import java.time.Duration;

import io.delayqueue.OnDuplicate;
import io.delayqueue.QueueName;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.NewMessage;
import org.jspecify.annotations.Nullable;

/**
 * Holds a request on the message of an id, as a row of the journal stores it.
 *
 * @param queue the queue
 * @param id the id of the message
 * @param operation what is requested
 * @param due when the message is to be due; {@code null} for a cancel
 * @param message the message, for a send; {@code null} otherwise
 */
record JournalRequest(QueueName queue, String id, Operation operation, @Nullable DueTime due,
        @Nullable NewMessage message) {

    static JournalRequest send(QueueName queue, NewMessage message) {
        if (message.duplicateWindow() != null) {
            throw new IllegalArgumentException(
                    "Message '%s' of queue '%s' cannot have a duplicate window, as a journal records sends to the queue"
                        .formatted(message.id(), queue));
        }
        return new JournalRequest(queue, message.id(), Operation.SEND, message.due(), message);
    }

    /** Creates the send of an occurrence that a schedule is about to fire. */
    static JournalRequest occurrence(QueueName queue, NewMessage message) {
        return new JournalRequest(queue, message.id(), Operation.OCCURRENCE, message.due(), message);
    }

    static JournalRequest reschedule(QueueName queue, String id, DueTime due) {
        return new JournalRequest(queue, id, Operation.RESCHEDULE, due, null);
    }

    static JournalRequest cancel(QueueName queue, String id) {
        return new JournalRequest(queue, id, Operation.CANCEL, null, null);
    }

    /**
     * Returns a send whose stamp is derived from its revision, so that a repeated offer
     * is recognized.
     */
    static NewMessage message(long revision, String id, DueTime due, OnDuplicate onDuplicate, int priority,
            @Nullable Duration timeToLive, @Nullable String group, byte[] envelope) {
        return new NewMessage(id, false, due, onDuplicate, priority, timeToLive, group, envelope, mix(revision));
    }

    /** Spreads the bits of a number, so that neighbours have different stamps. */
    private static long mix(long value) {
        long mixed = value + 0x9e3779b97f4a7c15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
        return mixed ^ (mixed >>> 31);
    }

    /** Lists the operations of requests, and their letters in the table. */
    enum Operation {

        SEND("S"),

        RESCHEDULE("R"),

        CANCEL("C"),

        /** The send of an occurrence; becomes a send once the store has it. */
        OCCURRENCE("O");

        private final String letter;

        Operation(String letter) {
            this.letter = letter;
        }

        String letter() {
            return this.letter;
        }

        static Operation of(String letter) {
            return switch (letter) {
                case "S" -> SEND;
                case "R" -> RESCHEDULE;
                case "C" -> CANCEL;
                case "O" -> OCCURRENCE;
                default -> throw new IllegalArgumentException(
                        "Operation '%s' of a journal row is unknown: S, R, C or O expected".formatted(letter));
            };
        }

    }

}
