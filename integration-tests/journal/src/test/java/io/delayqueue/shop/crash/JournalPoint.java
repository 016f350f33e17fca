package io.delayqueue.shop.crash;

import java.util.EnumSet;
import java.util.List;

import org.jspecify.annotations.Nullable;

/** Names the points between statements of the journal at which a process can die. */
enum JournalPoint {

    BEFORE_INSERT, BEFORE_COMMIT, AFTER_COMMIT, AFTER_CLAIM, BEFORE_READ, AFTER_READ, BEFORE_REMOVAL, AFTER_REMOVAL,
    BEFORE_MARK, AFTER_MARK, BEFORE_ENDS, IN_ENDS, AFTER_ENDS, BEFORE_HANDLED, IN_HANDLED, AFTER_HANDLED, BEFORE_CHECK,
    AFTER_CHECK, AFTER_CANCELS, AFTER_RESTORE, AFTER_DEAD_LETTERS;

    /** Lists the points that processes pass which lose nothing in Redis. */
    static List<JournalPoint> withListeners() {
        return List.copyOf(EnumSet.range(BEFORE_INSERT, AFTER_HANDLED));
    }

    /** Lists the points that processes without transactional listeners pass. */
    static List<JournalPoint> withoutListeners() {
        return List.copyOf(EnumSet.range(BEFORE_INSERT, AFTER_ENDS));
    }

    /** Lists the kinds of statements, and the points around each. */
    enum Statement {

        INSERT(BEFORE_INSERT, BEFORE_COMMIT, AFTER_COMMIT),

        /** Takes rows of other nodes. */
        CLAIM(null, null, AFTER_CLAIM),

        /** Reads the rows that are offered to Redis next. */
        READ(BEFORE_READ, null, AFTER_READ),

        /** Deletes rows by the answers of Redis. */
        REMOVAL(BEFORE_REMOVAL, null, AFTER_REMOVAL),

        /** Marks rows as accepted. */
        MARK(BEFORE_MARK, null, AFTER_MARK),

        /** Deletes the rows of messages that have ended. */
        ENDS(BEFORE_ENDS, IN_ENDS, AFTER_ENDS),

        /** Records in the transaction of a handler that a message was handled. */
        HANDLED(BEFORE_HANDLED, IN_HANDLED, AFTER_HANDLED),

        /** Takes overdue messages, to compare them with Redis. */
        CHECK(BEFORE_CHECK, null, AFTER_CHECK),

        /** Reads the cancels that a restore repeats. */
        CANCELS(null, null, AFTER_CANCELS),

        /** Reads messages that a restore offers. */
        RESTORE(null, null, AFTER_RESTORE),

        /** Reads dead letters that a restore offers. */
        DEAD_LETTERS(null, null, AFTER_DEAD_LETTERS),

        OTHER(null, null, null);

        final @Nullable JournalPoint before;

        final @Nullable JournalPoint executed;

        final @Nullable JournalPoint committed;

        Statement(@Nullable JournalPoint before, @Nullable JournalPoint executed, @Nullable JournalPoint committed) {
            this.before = before;
            this.executed = executed;
            this.committed = committed;
        }

        static Statement of(String sql) {
            String line = sql.replaceAll("\\s+", " ").strip();
            if (line.startsWith("INSERT INTO delayqueue_journal (")) {
                return INSERT;
            }
            if (line.startsWith("INSERT INTO delayqueue_handled")) {
                return HANDLED;
            }
            if (line.startsWith("UPDATE delayqueue_journal SET claimed_by")) {
                return CLAIM;
            }
            if (line.startsWith("UPDATE delayqueue_journal SET accepted = TRUE")) {
                return MARK;
            }
            if (line.startsWith("DELETE FROM delayqueue_journal WHERE")) {
                return line.contains("message_id") ? ENDS : REMOVAL;
            }
            if (line.startsWith("UPDATE delayqueue_journal SET checks = ?")) {
                return CHECK;
            }
            return line.startsWith("SELECT") ? ofRead(line) : OTHER;
        }

        private static Statement ofRead(String line) {
            if (line.contains("accepted = TRUE AND claimed_until >= ?")) {
                return line.contains("operation = 'C'") ? CANCELS : RESTORE;
            }
            if (line.startsWith("SELECT dead_letter_id, partition_number, content")) {
                return DEAD_LETTERS;
            }
            return line.contains("revision IN (") ? READ : OTHER;
        }

    }

}
