package io.delayqueue.journal;

import java.util.List;
import java.util.UUID;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DuplicateKeyException;

/**
 * Reads and updates the row that holds the identity of a journal, the last time that was
 * committed, and the maintainer. Thread-safe.
 *
 * @param identity that of the journal
 * @param committedAt a time that a node has committed, in milliseconds since the epoch,
 * on the database's clock; it only increases
 * @param maintainer the node that has committed it
 */
record JournalIdentity(String identity, long committedAt, String maintainer) {

    private static final Logger logger = LoggerFactory.getLogger(JournalIdentity.class);

    /** Reads the row, which is created once. */
    static JournalIdentity read(JournalDatabase database) {
        List<JournalIdentity> known = select(database);
        if (known.isEmpty()) {
            try {
                database.inOwnTransaction(() -> database.statement("""
                        INSERT INTO delayqueue_journal_identity (namespace, identity, committed_at, maintainer)
                        VALUES (:namespace, :identity, $now, '')""")
                    .param("identity", UUID.randomUUID().toString())
                    .update());
            }
            catch (DuplicateKeyException ex) {
                logger.debug("Another node has created the identity of the journal", ex);
            }
            known = select(database);
        }
        return known.get(0);
    }

    private static List<JournalIdentity> select(JournalDatabase database) {
        return database.query(() -> database
            .replanned("SELECT identity, committed_at, maintainer FROM delayqueue_journal_identity "
                    + "WHERE namespace = :namespace")
            .query((row, number) -> new JournalIdentity(row.getString(1), row.getLong(2), row.getString(3)))
            .list());
    }

    /**
     * Commits a later time, unless the row has changed since it was read: another node is
     * the maintainer, or the database was restored from a backup meanwhile.
     * @param least the earliest time to commit
     * @return whether it was committed
     */
    boolean commit(JournalDatabase database, String node, long least) {
        return database.inOwnTransaction(() -> database.statement("""
                UPDATE delayqueue_journal_identity SET maintainer = :node,
                  committed_at = CASE WHEN $now > :least THEN $now ELSE :least END
                WHERE namespace = :namespace AND identity = :identity AND committed_at = :committed""")
            .param("node", node)
            .param("identity", this.identity)
            .param("committed", this.committedAt)
            .param("least", Math.max(least, this.committedAt + 1))
            .update()) > 0;
    }

}
