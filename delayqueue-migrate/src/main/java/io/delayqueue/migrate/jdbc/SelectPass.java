package io.delayqueue.migrate.jdbc;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.sql.Blob;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.delayqueue.migrate.SourceEntry;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of a query once, from the first to the last, and keeps its place in
 * between. Not thread-safe.
 */
final class SelectPass implements AutoCloseable {

    private static final int FETCHED_AT_ONCE = 1_000;

    /**
     * How long the pass may read nothing, as {@code --rate} makes the caller pause.
     * MariaDB and MySQL end a query from which no row was read for a minute.
     */
    private static final int MAX_PAUSE_SECONDS = 3_600;

    /** The places of the columns. */
    private static final int ID = 1;

    private static final int DUE = 2;

    private static final int PAYLOAD = 3;

    private final Connection connection;

    private final boolean ownsConnection;

    private final PreparedStatement statement;

    private final ResultSet rows;

    private SelectPass(Connection connection, String sql, int most, boolean ownsConnection) throws SQLException {
        this.connection = connection;
        this.ownsConnection = ownsConnection;
        try {
            if (ownsConnection && Database.isMySql(connection)) {
                Database.update(connection, "SET SESSION net_write_timeout = " + MAX_PAUSE_SECONDS);
            }
            this.statement = connection.prepareStatement(sql, ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY);
            this.statement.setFetchSize(FETCHED_AT_ONCE);
            this.statement.setMaxRows(most);
            this.rows = this.statement.executeQuery();
            requireInstants(connection, this.rows);
        }
        catch (SQLException | RuntimeException ex) {
            if (ownsConnection) {
                end(connection);
            }
            throw ex;
        }
    }

    /**
     * Rejects due times of which MariaDB and MySQL return the local time of the session:
     * its zone may be another than that of this program, and a local time that occurs
     * twice a year would be read as the first one. Such messages would be sent early.
     */
    private static void requireInstants(Connection connection, ResultSet rows) throws SQLException {
        if (Database.isMySql(connection) && "TIMESTAMP".equalsIgnoreCase(rows.getMetaData().getColumnTypeName(DUE))) {
            String column = rows.getMetaData().getColumnLabel(DUE);
            throw new IllegalArgumentException(("--source-option=select=... is not valid: column '%1$s' is a "
                    + "TIMESTAMP, which the database converts to the time zone of the session. Use "
                    + "UNIX_TIMESTAMP(%1$s) * 1000")
                .formatted(column));
        }
    }

    /**
     * Runs the query for all its rows.
     * @param connection one that serves this pass alone, and ends with it: a commit would
     * end the query in some databases, and another statement makes some drivers load all
     * its rows
     */
    static SelectPass all(Connection connection, String sql) throws SQLException {
        return new SelectPass(connection, sql, 0, true);
    }

    /**
     * Runs the query for its first rows.
     * @param connection one that is used by others as well
     * @param most the maximum number of rows
     */
    static SelectPass first(Connection connection, String sql, int most) throws SQLException {
        return new SelectPass(connection, sql, most, false);
    }

    /**
     * Returns the next rows; empty behind the last one.
     * @param withPayload whether the payloads are needed
     */
    List<Row> next(int limit, boolean withPayload) throws SQLException {
        List<Row> page = new ArrayList<>();
        while (page.size() < limit && this.rows.next()) {
            page.add(new Row(this.rows.getString(ID), this.rows.getObject(ID), instant(this.rows),
                    withPayload ? payload(this.rows) : new byte[0]));
        }
        return page;
    }

    @Override
    public void close() throws SQLException {
        if (this.ownsConnection) {
            end(this.connection);
        }
        else {
            this.statement.close();
        }
    }

    /** Some drivers commit, or refuse, if a connection with a transaction is closed. */
    private static void end(Connection connection) throws SQLException {
        try (connection) {
            connection.rollback();
        }
    }

    /**
     * Reads a due time, which is rounded up to the millisecond: the record has no more
     * digits, and no message may be sent early.
     */
    private static @Nullable Instant instant(ResultSet row) throws SQLException {
        Object due = row.getObject(DUE);
        if (due instanceof Number millis) {
            return Instant
                .ofEpochMilli(new BigDecimal(millis.toString()).setScale(0, RoundingMode.CEILING).longValueExact());
        }
        if (due instanceof OffsetDateTime time) {
            return roundedUp(time.toInstant());
        }
        Timestamp time = row.getTimestamp(DUE);
        return (time != null) ? roundedUp(time.toInstant()) : null;
    }

    private static Instant roundedUp(Instant due) {
        Instant millis = due.truncatedTo(ChronoUnit.MILLIS);
        return millis.equals(due) ? millis : millis.plusMillis(1);
    }

    private static byte[] payload(ResultSet row) throws SQLException {
        Object value = row.getObject(PAYLOAD);
        if (value instanceof byte[] || value instanceof Blob) {
            return row.getBytes(PAYLOAD);
        }
        String text = row.getString(PAYLOAD);
        return (text != null) ? text.getBytes(StandardCharsets.UTF_8) : new byte[0];
    }

    /**
     * Holds a row.
     *
     * @param id its id as text; {@code null} if it has none
     * @param key its id as the driver returns it, so that a statement compares it with
     * the column by the type of the column; {@code null} if it has none
     * @param due its due time; {@code null} if it has none
     * @param payload its payload, if it was asked for
     */
    @SuppressWarnings("ArrayRecordComponent")
    record Row(@Nullable String id, @Nullable Object key, @Nullable Instant due, byte[] payload) {

        SourceEntry entry(String entryId) {
            if (this.id == null) {
                return SourceEntry.unreadable(entryId, this.due, this.payload, "the row has no id");
            }
            SourceEntry entry = (this.due != null) ? SourceEntry.of(entryId, this.due, this.payload) : SourceEntry
                .unreadable(entryId, null, this.payload, "row '%s' has no due time".formatted(this.id));
            return entry.with(this.id, Map.of());
        }

    }

}
