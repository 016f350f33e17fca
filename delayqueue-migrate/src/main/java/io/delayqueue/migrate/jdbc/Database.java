package io.delayqueue.migrate.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Properties;

import io.delayqueue.migrate.SourceException;
import io.delayqueue.migrate.SourceOptions;
import org.jspecify.annotations.Nullable;

/**
 * Connects to the database of a source, and connects again after a failure. Not
 * thread-safe.
 */
final class Database implements AutoCloseable {

    /**
     * The beginnings of the states of deadlocks, of transactions that could not be
     * serialized, of connections that are broken, of servers that stop, of sessions that
     * PostgreSQL has ended since their transaction was idle for too long, and of its
     * locks that were not free in time.
     */
    private static final List<String> PASSING_STATES = List.of("40", "08", "57", "25P03", "55P03");

    /**
     * The code of MariaDB and MySQL for a lock that was not free in time. A poller may
     * hold it for as long as it works on a row.
     */
    private static final int LOCK_WAIT_TIMEOUT = 1205;

    private final String url;

    private final Properties credentials = new Properties();

    private @Nullable Connection connection;

    Database(SourceOptions options) {
        if (!options.url().startsWith("jdbc:")) {
            throw new IllegalArgumentException("--source-url is not a URL of JDBC: use one that begins with jdbc:, and "
                    + "name the jar of its driver by java -Dloader.path=driver.jar");
        }
        this.url = options.url();
        if (options.user() != null) {
            this.credentials.setProperty("user", options.user());
        }
        if (options.password() != null) {
            this.credentials.setProperty("password", options.password());
        }
    }

    /**
     * Runs statements in a transaction, which is rolled back if they fail.
     * @throws DatabaseException if they fail
     */
    <T> T inTransaction(Work<T> work) {
        try {
            Connection current = connect();
            try {
                T result = work.on(current);
                current.commit();
                return result;
            }
            catch (SQLException | RuntimeException ex) {
                current.rollback();
                throw ex;
            }
        }
        catch (SQLException ex) {
            if (isPassing(ex)) {
                close();
            }
            throw new DatabaseException(ex);
        }
    }

    private Connection connect() throws SQLException {
        Connection current = this.connection;
        if (current == null || current.isClosed()) {
            current = open();
            this.connection = current;
        }
        return current;
    }

    /** Returns a further connection, which the caller closes. */
    Connection open() throws SQLException {
        Connection opened = DriverManager.getConnection(this.url, this.credentials);
        opened.setAutoCommit(false);
        if (opened.getMetaData().supportsTransactionIsolationLevel(Connection.TRANSACTION_READ_COMMITTED)) {
            // A read behind a lock must return what others have committed before.
            opened.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
        return opened;
    }

    static boolean isPassing(SQLException failure) {
        String state = failure.getSQLState();
        if ("HY000".equals(state) && failure.getErrorCode() == LOCK_WAIT_TIMEOUT) {
            return true;
        }
        return failure instanceof SQLTransientException || failure instanceof SQLRecoverableException
                || failure instanceof SQLNonTransientConnectionException
                || (state != null && PASSING_STATES.stream().anyMatch(state::startsWith));
    }

    /** Returns the end of a query that limits its rows. */
    static String limit(Connection connection, int rows) throws SQLException {
        return limit(connection, 0, rows);
    }

    /** Returns the end of a query that passes over rows and limits the others. */
    static String limit(Connection connection, long offset, int rows) throws SQLException {
        if (isMySql(connection)) {
            return " LIMIT %d OFFSET %d".formatted(rows, offset);
        }
        boolean passes = offset > 0 || product(connection).contains("microsoft");
        return (passes ? " OFFSET %d ROWS".formatted(offset) : "") + " FETCH FIRST %d ROWS ONLY".formatted(rows);
    }

    /** Returns the type of columns that hold payloads. */
    static String bytesType(Connection connection) throws SQLException {
        String product = product(connection);
        if (product.contains("postgres")) {
            return "BYTEA";
        }
        if (isMySql(connection)) {
            return "LONGBLOB";
        }
        return product.contains("microsoft") ? "VARBINARY(MAX)" : "BLOB";
    }

    /**
     * Returns the end of a statement that creates a table. The defaults of MariaDB and
     * MySQL may be an engine without transactions, a character set without most
     * characters, and a collation in which names are equal that differ in case.
     */
    static String tableOptions(Connection connection) throws SQLException {
        return isMySql(connection) ? " ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin" : "";
    }

    /** Returns whether the database is MariaDB or MySQL. */
    static boolean isMySql(Connection connection) throws SQLException {
        String product = product(connection);
        return product.contains("mysql") || product.contains("mariadb");
    }

    private static String product(Connection connection) throws SQLException {
        return connection.getMetaData().getDatabaseProductName().toLowerCase(Locale.ROOT);
    }

    /** Returns whether there is a table, whatever the case of its name. */
    static boolean hasTable(Connection connection, String name) throws SQLException {
        for (String spelling : List.of(name, name.toUpperCase(Locale.ROOT), name.toLowerCase(Locale.ROOT))) {
            try (ResultSet tables = connection.getMetaData()
                .getTables(connection.getCatalog(), connection.getSchema(), spelling, null)) {
                if (tables.next()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Runs a statement, and returns the number of rows. */
    static int update(Connection connection, String sql, Object... arguments) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, arguments);
            return statement.executeUpdate();
        }
    }

    /** Runs a statement for each list of arguments, and returns the numbers of rows. */
    static int[] updateEach(Connection connection, String sql, List<Object[]> arguments) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (Object[] row : arguments) {
                bind(statement, row);
                statement.addBatch();
            }
            return statement.executeBatch();
        }
    }

    /**
     * Runs a statement for each list of arguments, and returns which of them have changed
     * a row.
     * @throws IllegalArgumentException if the driver does not return that
     */
    static BitSet changedByEach(Connection connection, String sql, List<Object[]> arguments) throws SQLException {
        int[] numbers = updateEach(connection, sql, arguments);
        BitSet changed = new BitSet();
        for (int i = 0; i < numbers.length; i++) {
            if (numbers[i] < 0) {
                throw new IllegalArgumentException("--source-url is not valid: with its settings the driver does not "
                        + "return how many rows each statement of a batch changes. Remove those that rewrite batches, "
                        + "such as useBulkStmts");
            }
            changed.set(i, numbers[i] > 0);
        }
        return changed;
    }

    /** Reads rows. */
    static <T> List<T> query(Connection connection, RowReader<T> reader, String sql, Object... arguments)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, arguments);
            try (ResultSet rows = statement.executeQuery()) {
                List<T> all = new ArrayList<>();
                while (rows.next()) {
                    all.add(reader.read(rows));
                }
                return all;
            }
        }
    }

    private static void bind(PreparedStatement statement, Object[] arguments) throws SQLException {
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i] instanceof byte[] bytes) {
                statement.setBytes(i + 1, bytes);
            }
            else {
                statement.setObject(i + 1, arguments[i]);
            }
        }
    }

    @Override
    public void close() {
        Connection current = this.connection;
        this.connection = null;
        if (current != null) {
            try {
                current.close();
            }
            catch (SQLException ex) {
                // It is broken, and the next call opens another.
            }
        }
    }

    /** Uses a connection. */
    @FunctionalInterface
    interface Work<T> {

        T on(Connection connection) throws SQLException;

    }

    /** Reads a row. */
    @FunctionalInterface
    interface RowReader<T> {

        T read(ResultSet row) throws SQLException;

    }

    /** Reports a failure of the database. Its message contains no credentials. */
    static final class DatabaseException extends SourceException {

        private static final long serialVersionUID = 1L;

        private final boolean passing;

        DatabaseException(SQLException cause) {
            super("The database of the source answers: SQL state %s, %s".formatted(cause.getSQLState(),
                    firstLine(String.valueOf(cause.getMessage()))), cause);
            this.passing = Database.isPassing(cause);
        }

        private static String firstLine(String text) {
            return text.lines().findFirst().orElse("").replaceAll("jdbc:\\S+", "jdbc:...");
        }

        boolean isPassing() {
            return this.passing;
        }

    }

}
