package io.delayqueue.journal;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/** Lists the tables of a journal, their columns, and the rights that it needs. */
enum JournalTableCheck {

    JOURNAL("delayqueue_journal",
            "namespace, queue_name, message_id, operation, on_duplicate, due_millis, due_relative, recorded_at, "
                    + "priority, ttl_millis, group_name, envelope, accepted, checks, claimed_by, claimed_until, failures, "
                    + "retry_millis",
            "revision", "accepted", true),

    IDENTITY("delayqueue_journal_identity", "namespace, identity, committed_at, maintainer", "namespace",
            "committed_at", false),

    HANDLED("delayqueue_handled", "revision, namespace, queue_name, message_id, handled_at", "revision", null, true),

    DEAD_LETTER("delayqueue_dead_letter",
            "namespace, queue_name, dead_letter_id, message_id, partition_number, content", "namespace", null, true),

    ENDED("delayqueue_ended", "namespace, queue_name, recorded_at, revisions", "batch", null, true),

    HISTORY("delayqueue_history", "namespace, queue_name, message_id, occurred_at, node, event, attempt, detail",
            "entry", null, true);

    private final String table;

    private final String columns;

    private final String key;

    private final @Nullable String updated;

    private final boolean deletes;

    /**
     * Creates a check.
     * @param columns those that the journal inserts
     * @param key the key, or a column of it
     * @param updated a column that the journal updates; {@code null} if none
     * @param deletes whether it deletes rows
     */
    JournalTableCheck(String table, String columns, String key, @Nullable String updated, boolean deletes) {
        this.table = table;
        this.columns = columns;
        this.key = key;
        this.updated = updated;
        this.deletes = deletes;
    }

    String table() {
        return this.table;
    }

    /**
     * Returns the columns of another version that must be written. Finds none if the
     * table is not in the first schema of the connection, whose name is a pattern for the
     * driver.
     * @param name the name of the table
     */
    List<String> foreignColumns(DatabaseMetaData database, String name) throws SQLException {
        String stored = database.storesUpperCaseIdentifiers() ? name.toUpperCase(Locale.ROOT) : name;
        Set<String> known = new HashSet<>(Arrays.asList(this.columns.split(", ")));
        known.add(this.key);
        List<String> foreign = new ArrayList<>();
        Connection connection = database.getConnection();
        String schema = connection.getSchema();
        try (ResultSet column = database.getColumns(connection.getCatalog(), schema, stored, null)) {
            while (column.next()) {
                String columnName = column.getString("COLUMN_NAME").toLowerCase(Locale.ROOT);
                if (column.getString("TABLE_NAME").equals(stored)
                        && (schema == null || schema.equals(column.getString("TABLE_SCHEM")))
                        && !known.contains(columnName) && isRequired(column)) {
                    foreign.add(columnName);
                }
            }
        }
        return foreign;
    }

    private static boolean isRequired(ResultSet column) throws SQLException {
        return column.getInt("NULLABLE") == DatabaseMetaData.columnNoNulls && column.getString("COLUMN_DEF") == null
                && "NO".equals(column.getString("IS_AUTOINCREMENT"))
                && !"YES".equals(column.getString("IS_GENERATEDCOLUMN"));
    }

    /** Returns the rights, as a user reads them. */
    String rights() {
        return "SELECT, INSERT" + ((this.updated != null) ? ", UPDATE" : "") + (this.deletes ? ", DELETE" : "");
    }

    /** Returns a statement of each kind that changes no row. */
    List<String> statements() {
        String nothing = " WHERE 1 = 0 AND %s IS NULL".formatted(this.key);
        List<String> statements = new ArrayList<>();
        statements.add("INSERT INTO %s (%s) SELECT %s FROM %s%s".formatted(this.table, this.columns, this.columns,
                this.table, nothing));
        if (this.updated != null) {
            statements.add("UPDATE %s SET %s = %s%s".formatted(this.table, this.updated, this.updated, nothing));
        }
        if (this.deletes) {
            statements.add("DELETE FROM %s%s".formatted(this.table, nothing));
        }
        return statements;
    }

}
