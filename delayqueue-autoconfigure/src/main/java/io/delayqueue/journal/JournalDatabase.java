package io.delayqueue.journal;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.delayqueue.QueueName;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.support.DatabaseMetaDataCallback;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.jdbc.support.MetaDataAccessException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Runs the statements of the journal in its database. In a statement, {@code $now} is the
 * database's time, and {@code :namespace} the namespace.
 * <p>
 * Transactions of the journal's own are independent of the caller's, and at most
 * {@value #MAX_CONNECTIONS} at any time, so that the pool is left to the application.
 * Thread-safe.
 */
public final class JournalDatabase {

    private static final Logger logger = LoggerFactory.getLogger(JournalDatabase.class);

    private static final int MAX_CONNECTIONS = 2;

    private final DataSource dataSource;

    /**
     * The data source by which transaction managers bind connections: that behind a
     * transaction-aware proxy.
     */
    private final DataSource bound;

    private final String namespace;

    private final TableNames tables;

    private final JdbcClient jdbc;

    private final NamedParameterJdbcTemplate named;

    private final TransactionTemplate own;

    private final TransactionTemplate none;

    private final Semaphore connections = new Semaphore(MAX_CONNECTIONS, true);

    /** The complete statements, by those with {@code $now}. */
    private final Map<String, String> statements = new ConcurrentHashMap<>();

    private volatile @Nullable JournalDialect dialect;

    private final Map<StatementSettings, JdbcClient> replanning = new ConcurrentHashMap<>();

    /**
     * Creates a database.
     * @param namespace the namespace of the queues, as several may share the tables
     */
    public JournalDatabase(DataSource dataSource, String namespace) {
        this(dataSource, namespace, new TableNames(TableNames.DEFAULT_PREFIX));
    }

    /**
     * Creates a database.
     * @param namespace the namespace of the queues, as several may share the tables
     * @param tables the names of the tables
     */
    public JournalDatabase(DataSource dataSource, String namespace, TableNames tables) {
        this.tables = tables;
        this.dataSource = dataSource;
        this.namespace = namespace;
        JdbcTemplate template = new JdbcTemplate(dataSource);
        this.jdbc = JdbcClient.create(template);
        this.named = new NamedParameterJdbcTemplate(template);
        JdbcTransactionManager transactions = new JdbcTransactionManager(dataSource);
        this.bound = Objects.requireNonNull(transactions.getDataSource());
        this.none = new TransactionTemplate(transactions);
        this.none.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
        this.own = new TransactionTemplate(transactions);
        this.own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        // Locks no gaps that inserts of other transactions would wait for.
        this.own.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
    }

    DataSource dataSource() {
        return this.dataSource;
    }

    String namespace() {
        return this.namespace;
    }

    /**
     * Runs statements of the journal's own work; waits while other work uses all
     * connections that it may use.
     */
    <T> T inOwnTransaction(Supplier<T> statements) {
        String first = dialect().firstStatement();
        this.connections.acquireUninterruptibly();
        try {
            return inNewTransaction(() -> {
                if (first != null) {
                    this.named.getJdbcOperations().execute(first);
                }
                return statements.get();
            });
        }
        finally {
            this.connections.release();
        }
    }

    /**
     * Runs one query of the journal's own work, without a transaction; waits like
     * {@link #inOwnTransaction}.
     */
    <T> T query(Supplier<T> query) {
        this.connections.acquireUninterruptibly();
        try {
            return Objects.requireNonNull(this.none.execute((status) -> query.get()));
        }
        finally {
            this.connections.release();
        }
    }

    /**
     * Runs statements for a caller, in a transaction that is independent of the present
     * one.
     */
    <T> T inNewTransaction(Supplier<T> statements) {
        try {
            return apart(() -> Objects.requireNonNull(this.own.execute((status) -> statements.get())));
        }
        catch (CannotCreateTransactionException ex) {
            throw new DataAccessResourceFailureException("The journal has no connection to its database", ex);
        }
    }

    /**
     * Runs statements without the connection of a JPA transaction, which the manager of
     * JDBC transactions does not suspend: it would use it, and commit the transaction.
     */
    private <T> T apart(Supplier<T> statements) {
        DataSource key = this.bound;
        boolean jpa = TransactionSynchronizationManager.getResource(key) instanceof ConnectionHolder holder
                && !holder.isSynchronizedWithTransaction();
        Object connection = jpa ? TransactionSynchronizationManager.unbindResource(key) : null;
        try {
            return statements.get();
        }
        finally {
            if (connection != null) {
                TransactionSynchronizationManager.bindResource(key, connection);
            }
        }
    }

    /** Runs statements in a transaction of the journal's own that is rolled back. */
    void inRolledBackTransaction(Runnable statements) {
        this.own.executeWithoutResult((status) -> {
            status.setRollbackOnly();
            statements.run();
        });
    }

    /** Returns a statement, for the transaction of the calling thread. */
    StatementSpec statement(String sql) {
        return statement(this.jdbc, complete(sql));
    }

    /** Returns the queues that have rows in a table, by an index look-up for each. */
    List<QueueName> queues(String table) {
        List<QueueName> queues = new ArrayList<>();
        Optional<QueueName> next = queueAfter(table, "");
        while (next.isPresent()) {
            queues.add(next.get());
            next = queueAfter(table, next.get().value());
        }
        return queues;
    }

    /**
     * Returns the next queue that has rows in a table, in the order of the names.
     * @param after the name of the queue before; empty for the first one
     */
    Optional<QueueName> queueAfter(String table, String after) {
        return query(() -> replanned(
                "SELECT MIN(queue_name) FROM " + table + " WHERE namespace = :namespace AND queue_name > :after")
            .param("after", after)
            .query((row, number) -> Optional.ofNullable(row.getString(1)).map(QueueName::new))
            .single());
    }

    /**
     * Returns a statement for the transaction of the calling thread, or none, that is
     * planned for the present size of the tables. Others must select rows by their keys
     * alone.
     */
    StatementSpec replanned(String sql) {
        return replanned(sql, StatementSettings.DEFAULT);
    }

    /**
     * Returns a statement that is planned for the present size of the tables, with
     * settings. The {@code with…} methods of the statement must not be called: they
     * replace the template, and with it the planning.
     */
    StatementSpec replanned(String sql, StatementSettings settings) {
        String complete = complete(sql);
        JdbcClient client = this.replanning.computeIfAbsent(settings, (key) -> {
            JdbcTemplate template = dialect().replanning(this.dataSource);
            template.setFetchSize(key.fetchSize());
            if (dialect().limitsSingleStatements()) {
                template.setQueryTimeout(key.timeoutSeconds());
            }
            return JdbcClient.create(template);
        });
        return statement(client, complete);
    }

    /**
     * Holds the settings of statements.
     *
     * @param fetchSize the number of rows that are fetched at once; -1 for that of the
     * driver
     * @param timeoutSeconds the time limit of a statement; -1 for that of the driver. H2
     * has its limit for locks only
     */
    record StatementSettings(int fetchSize, int timeoutSeconds) {

        static final StatementSettings DEFAULT = new StatementSettings(-1, -1);

    }

    private StatementSpec statement(JdbcClient client, String complete) {
        StatementSpec statement = client.sql(complete);
        if (complete.contains(":namespace")) {
            statement = statement.param("namespace", this.namespace);
        }
        return complete.contains(":now") ? statement.param("now", JournalDialect.time()) : statement;
    }

    /**
     * Runs a statement for each row, in the transaction of the calling thread.
     * @return how many rows each has changed
     */
    int[] batch(String sql, MapSqlParameterSource... rows) {
        for (MapSqlParameterSource row : rows) {
            row.addValue("namespace", this.namespace).addValue("now", JournalDialect.time());
        }
        return this.named.batchUpdate(complete(sql), rows);
    }

    /** Returns the database's time, in milliseconds. */
    long now() {
        String now = dialect().now();
        return now.contains(":now") ? JournalDialect.time() : this.jdbc.sql("SELECT " + now).query(Long.class).single();
    }

    private String complete(String sql) {
        String known = this.statements.get(sql);
        if (known == null) {
            known = this.tables.in(sql.replace("$now", dialect().now()));
            this.statements.put(sql, known);
        }
        return known;
    }

    /**
     * Runs each kind of statement on a table, without a row.
     * @param modes the modes that need it
     * @throws IllegalStateException if it is missing or has other columns, or this user
     * has not all rights that the journal needs
     * @throws DataAccessException if the database is away
     */
    void requireTable(JournalTableCheck table, String modes) {
        dialect(); // fails in another way if the database is away
        String name = this.tables.in(table.table());
        List<String> foreign = foreignColumns(table, name);
        if (!foreign.isEmpty()) {
            throw new IllegalStateException(("The table %s cannot be used, which a queue with delayqueue.journal.mode "
                    + "%s needs: this version does not write its columns %s, which must not be null and have no "
                    + "default. Use the version that has created it, or give these columns a default")
                .formatted(name, modes, foreign));
        }
        try {
            inOwnTransaction(() -> table.statements().stream().mapToInt((sql) -> statement(sql).update()).sum());
        }
        catch (DataAccessException ex) {
            throw new IllegalStateException(
                    ("The table %s cannot be used, which a queue with delayqueue.journal.mode %s "
                            + "needs: create it by the script of this version in io/delayqueue/journal, or set "
                            + "delayqueue.journal.jdbc.initialize-schema to 'always'. Its user needs the rights to %s")
                        .formatted(name, modes, table.rights()),
                    ex);
        }
    }

    /**
     * Returns none if the driver does not list columns; the statements are run anyway.
     */
    private List<String> foreignColumns(JournalTableCheck table, String name) {
        try {
            return metaData((database) -> table.foreignColumns(database, name));
        }
        catch (DataAccessResourceFailureException ex) {
            logger.debug("Cannot read the columns of table {}", name, ex);
            return List.of();
        }
    }

    private <T> T metaData(DatabaseMetaDataCallback<T> callback) {
        try {
            return JdbcUtils.extractDatabaseMetaData(this.dataSource, callback);
        }
        catch (MetaDataAccessException ex) {
            throw new DataAccessResourceFailureException("The journal cannot connect to its database", ex);
        }
    }

    JournalDialect dialect() {
        JournalDialect known = this.dialect;
        if (known == null) {
            known = metaData(JournalDialect::of);
            this.dialect = known;
        }
        return known;
    }

}
