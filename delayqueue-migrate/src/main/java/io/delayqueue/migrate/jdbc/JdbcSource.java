package io.delayqueue.migrate.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.List;
import java.util.function.BooleanSupplier;

import io.delayqueue.migrate.EntryPage;
import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.EntryOutcome;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceOptions;
import io.delayqueue.migrate.SourceStatus;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the records of taken entries in the database of the source. The take is one
 * transaction, which removes entries from the source and adds them to the records.
 */
abstract class JdbcSource implements MigrationSource {

    private final TakenRows rows;

    private @Nullable Database database;

    JdbcSource(String name) {
        this.rows = new TakenRows(name, InstantSource.system());
    }

    @Override
    public void open(SourceOptions options) {
        this.database = new Database(options);
    }

    /** Returns the queues that hold entries, or from which entries were taken. */
    abstract List<String> queues(Connection connection) throws SQLException;

    /**
     * Checks that the source has a queue.
     * @throws IllegalArgumentException if the options describe another queue
     */
    void requireQueue(String queue) {
    }

    /**
     * Returns the options that decide which entries the source has, as far as they are
     * known; "" if the name of a queue decides alone.
     */
    String options(Connection connection) throws SQLException {
        return "";
    }

    /** Returns the waiting entries of a queue. */
    abstract TakenRows.Waiting waiting(Connection connection, String queue) throws SQLException;

    /** Removes entries from the source, and returns them. */
    abstract List<SourceEntry> remove(Connection connection, String queue, String batch, int limit) throws SQLException;

    /** Forgets a place in the source, as a take has failed and its entries wait again. */
    void failed() {
    }

    final TakenRows rows() {
        return this.rows;
    }

    final Database database() {
        if (this.database == null) {
            throw new IllegalStateException("The source is not open");
        }
        return this.database;
    }

    @Override
    public final boolean isPassing(RuntimeException failure) {
        return failure instanceof Database.DatabaseException ex && ex.isPassing();
    }

    @Override
    public final List<String> queues() {
        return database().inTransaction((connection) -> {
            this.rows.requireOptions(connection, options(connection));
            return queues(connection);
        });
    }

    @Override
    public final SourceStatus status(String queue) {
        requireQueue(queue);
        return database()
            .inTransaction((connection) -> this.rows.status(connection, queue, waiting(connection, queue)));
    }

    @Override
    public final void own(String queue) {
        requireQueue(queue);
        database().inTransaction((connection) -> {
            TakenRows.create(connection);
            this.rows.own(connection, queue);
            return true;
        });
    }

    @Override
    public final List<SourceEntry> take(String queue, String batch, int limit) {
        requireQueue(queue);
        try {
            return database().inTransaction((connection) -> {
                this.rows.own(connection, queue);
                List<SourceEntry> before = this.rows.takenBefore(connection, queue, batch);
                if (!before.isEmpty()) {
                    return before;
                }
                List<SourceEntry> entries = remove(connection, queue, batch, limit);
                if (!entries.isEmpty()) {
                    this.rows.recordOptions(connection, options(connection));
                }
                this.rows.add(connection, queue, entries);
                return entries;
            });
        }
        catch (RuntimeException ex) {
            failed();
            throw ex;
        }
    }

    @Override
    public final List<SourceEntry> unsettled(String queue, int limit) {
        return database().inTransaction((connection) -> this.rows.unsettled(connection, queue, limit));
    }

    @Override
    public final void reopen(String queue, BooleanSupplier stopped) {
        database().inTransaction((connection) -> {
            this.rows.reopen(connection, queue);
            return true;
        });
    }

    @Override
    public final void settle(String queue, List<EntryOutcome> outcomes) {
        database().inTransaction((connection) -> {
            this.rows.settle(connection, queue, outcomes);
            return true;
        });
    }

    @Override
    public final EntryPage sent(String queue, @Nullable String cursor, int limit) {
        return database().inTransaction((connection) -> this.rows.sent(connection, queue, cursor, limit));
    }

    @Override
    public final void count(String queue, String name, long number) {
        database().inTransaction((connection) -> {
            this.rows.count(connection, queue, name, number);
            return true;
        });
    }

    @Override
    public final void finish(String queue, BooleanSupplier stopped) {
        database().inTransaction((connection) -> {
            if (this.rows.queues(connection).contains(queue)) {
                this.rows.own(connection, queue);
                this.rows.finish(connection, queue);
            }
            return true;
        });
    }

    @Override
    public void close() {
        if (this.database != null) {
            this.database.close();
        }
    }

}
