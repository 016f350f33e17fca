package io.delayqueue.admin;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Something that is wrong with what is stored. Holds nothing of any payload.
 *
 * @param kind what it is
 * @param queue the queue
 * @param partition the partition of the queue, from 0
 * @param id the message, dead letter, group or key; {@code null} if it is none of them.
 * One that no caller can have given is escaped as in a URL
 * @param problem what is wrong and what follows from it
 * @param remedy what would repair it
 * @param commands of Redis that would do so, if nobody changes the message meanwhile; a
 * proposal: nothing was done. As typed at the prompt of redis-cli, not in a shell. Empty
 * if none are needed, none can be known, or they would destroy a message
 */
public record Finding(Kind kind, @Nullable String queue, int partition, @Nullable String id, String problem,
        String remedy, List<String> commands) {

    public Finding {
        commands = List.copyOf(commands);
    }

    /** What can be wrong. */
    public enum Kind {

        /** A message is stored, and nobody will ever claim it. */
        MESSAGE_WITHOUT_PLACE,

        /** An id waits or is leased, and its message is gone. */
        PLACE_WITHOUT_MESSAGE,

        /** A message waits or is leased more than once. */
        SEVERAL_PLACES,

        /** A message waits in another lane than that of its priority. */
        WRONG_LANE,

        /** Something is known of a message that is not stored. */
        LEFTOVER,

        /** Something is known of a lease that is not there. */
        NOT_LEASED,

        /** A time that no sender and no worker gives. */
        IMPOSSIBLE_TIME,

        /** An entry cannot be read. */
        UNREADABLE_ENTRY,

        /** A message cannot be read. */
        UNREADABLE_MESSAGE,

        /** The head of a group neither waits nor is leased. */
        LOST_HEAD,

        /** A message passes its group, of which it is not the head. */
        NOT_THE_HEAD,

        /** A message waits behind others, in a group that has no head, or as another. */
        LOST_FOLLOWER,

        /** A dead letter of which one half is missing. */
        HALF_A_LETTER,

        /** The wake mark keeps senders from waking workers. */
        WAKE_MARK,

        /** A message is in a partition to which its id does not lead. */
        NOT_AT_HOME,

        /** Partitions go by different records of how the queue is spread. */
        RECORDS_DISAGREE,

        /** A key holds something else than it should. */
        WRONG_TYPE,

        /** A partition holds something, and by the record there is no such partition. */
        UNKNOWN_PARTITION,

        /** A key of the namespace is none that a queue has. */
        FOREIGN_KEY

    }

}
