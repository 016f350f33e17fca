package io.delayqueue.journal;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DuplicateKeyException;

/**
 * Identifies a journal, and how recent its database is: a database that was restored from
 * a backup has an earlier time than the one from which the backup was made. Both are in a
 * row of its namespace. Thread-safe.
 *
 * @param identity that of the journal
 * @param committedAt a time that a node has committed, in milliseconds since the epoch,
 * on the database's clock
 */
record JournalIdentity(String identity, long committedAt) {

    private static final Logger logger = LoggerFactory.getLogger(JournalIdentity.class);

    /** How often a time is committed, by all nodes together. */
    private static final Duration INTERVAL = Duration.ofSeconds(10);

    /** Reads the row, which is created once. */
    static JournalIdentity read(JournalTable table) {
        List<JournalIdentity> known = select(table);
        if (known.isEmpty()) {
            try {
                table.inOwnTransaction(() -> table.statement("""
                        INSERT INTO delayqueue_journal_identity (namespace, identity, committed_at)
                        VALUES (:namespace, :identity, $now)""")
                    .param("identity", UUID.randomUUID().toString())
                    .update());
            }
            catch (DuplicateKeyException ex) {
                logger.debug("Another node has created the identity of the journal", ex);
            }
            known = select(table);
        }
        return known.get(0);
    }

    private static List<JournalIdentity> select(JournalTable table) {
        return table.inOwnTransaction(() -> table
            .statement("SELECT identity, committed_at FROM delayqueue_journal_identity WHERE namespace = :namespace")
            .query((row, number) -> new JournalIdentity(row.getString(1), row.getLong(2)))
            .list());
    }

    /**
     * Commits a later time, unless the row has changed since it was read: the database
     * may have been restored from a backup meanwhile.
     */
    void commit(JournalTable table) {
        table.inOwnTransaction(() -> table.statement("""
                UPDATE delayqueue_journal_identity SET committed_at = $now
                WHERE namespace = :namespace AND identity = :identity AND committed_at = :committed
                  AND $now > :committed + :interval""")
            .param("identity", this.identity)
            .param("committed", this.committedAt)
            .param("interval", INTERVAL.toMillis())
            .update());
    }

}
