package io.delayqueue.journal;

import java.util.Objects;

import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.KeyHolder;

/**
 * Advances the sequence of revisions by a million after the database has lost its last
 * transactions, so that it assigns no revision twice. Messages with those of the lost
 * transactions may still be in the store. Thread-safe.
 */
final class RevisionSequence {

    /** More than a database assigns in the time that it may lose. */
    private static final long GAP = 1_000_000;

    private static final String ROW = """
            INSERT INTO delayqueue_journal (%snamespace, queue_name, message_id, operation, due_relative, recorded_at,
              accepted, checks, claimed_by, claimed_until)
            VALUES (%s:namespace, '-', '-', 'C', FALSE, 0, FALSE, 0, '-', 0)""";

    private final JournalDatabase database;

    RevisionSequence(JournalDatabase database) {
        this.database = database;
    }

    /**
     * Skips revisions. Repetitions skip more.
     * @throws org.springframework.dao.DataAccessException if the user lacks the right
     */
    void skip() {
        switch (this.database.dialect()) {
            case POSTGRESQL -> this.database.inOwnTransaction(() -> this.database
                .statement("SELECT setval(s, nextval(s) + :gap) "
                        + "FROM (SELECT pg_get_serial_sequence('delayqueue_journal', 'revision')::regclass AS s) q")
                .param("gap", GAP)
                .query(Long.class)
                .single());
            case H2, H2_SERVER -> this.database.inOwnTransaction(this::restart);
            case MYSQL, MARIADB -> this.database.inRolledBackTransaction(this::insert);
            default -> throw new IllegalStateException("No way to skip revisions of " + this.database.dialect());
        }
    }

    private int restart() {
        long next = this.database
            .statement("SELECT MAX(identity_base) FROM information_schema.columns "
                    + "WHERE LOWER(table_name) = 'delayqueue_journal' AND LOWER(column_name) = 'revision'")
            .query(Long.class)
            .single();
        return this.database
            .statement("ALTER TABLE delayqueue_journal ALTER COLUMN revision RESTART WITH " + (next + GAP))
            .update();
    }

    /** The values that a transaction has assigned stay assigned if it is rolled back. */
    private void insert() {
        KeyHolder key = new GeneratedKeyHolder();
        this.database.statement(ROW.formatted("", "")).update(key, "revision");
        long last = Objects.requireNonNull(key.getKey(), "The database returned no key").longValue();
        this.database.statement(ROW.formatted("revision, ", ":revision, ")).param("revision", last + GAP).update();
    }

}
