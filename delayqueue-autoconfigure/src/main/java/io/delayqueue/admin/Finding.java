package io.delayqueue.admin;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Describes an inconsistency of the stored data. Contains no payload.
 *
 * @param kind the kind of inconsistency
 * @param queue the queue
 * @param partition the partition of the queue, from 0
 * @param id the message, dead letter, group or key; {@code null} if none applies. A value
 * that is not a valid id is escaped as in a URL
 * @param problem the inconsistency and its consequence
 * @param remedy how to repair it
 * @param commands Redis commands that repair it, provided that the message does not
 * change in the meantime. They are a proposal and have not been executed. Written for the
 * redis-cli prompt, not for a shell. Empty if none are needed or known, or if they would
 * destroy a message
 * @see DelayQueueIntegrityChecker
 */
public record Finding(Kind kind, @Nullable String queue, int partition, @Nullable String id, String problem,
        String remedy, List<String> commands) {

    public Finding {
        commands = List.copyOf(commands);
    }

    /** Lists the kinds of inconsistencies. */
    public enum Kind {

        /**
         * A message is stored but neither scheduled nor leased, so it will never be
         * claimed.
         */
        UNSCHEDULED_MESSAGE,

        /** An id is scheduled or leased, but its message is missing. */
        MISSING_CONTENT,

        /** A message is scheduled or leased more than once. */
        SEVERAL_PLACES,

        /** A message is in a lane that does not match its priority. */
        WRONG_LANE,

        /** An entry refers to a message that is not stored. */
        ORPHANED_ENTRY,

        /** An entry refers to a lease that does not exist. */
        NOT_LEASED,

        /** A time is outside the range that senders and listeners can set. */
        IMPOSSIBLE_TIME,

        /** An entry cannot be read. */
        UNREADABLE_ENTRY,

        /** A message cannot be read. */
        UNREADABLE_MESSAGE,

        /** The head of a group is neither scheduled nor leased. */
        GROUP_HEAD_MISSING,

        /**
         * A message is scheduled or leased ahead of its group, although it is not the
         * head.
         */
        NOT_GROUP_HEAD,

        /** A message waits in a group that has no head, or under another group. */
        STRANDED_IN_GROUP,

        /** One half of a dead letter is missing. */
        INCOMPLETE_DEAD_LETTER,

        /** The wake mark prevents senders from publishing wake-ups. */
        WAKE_MARK,

        /** A message is in a partition that its id does not map to. */
        WRONG_PARTITION,

        /** Partitions have recorded different layouts of the queue. */
        PARTITION_LAYOUT_MISMATCH,

        /** A key has the wrong type. */
        WRONG_TYPE,

        /** A partition holds data but is not part of the recorded layout. */
        UNKNOWN_PARTITION,

        /** A key in the namespace does not belong to any queue. */
        FOREIGN_KEY

    }

}
