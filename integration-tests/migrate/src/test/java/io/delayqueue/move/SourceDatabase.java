package io.delayqueue.move;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.fixtures.MariaDbServer;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.h2.tools.Server;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Lists the databases of sources. Each server is started on first use and ends with the
 * JVM, as do connections.
 */
enum SourceDatabase {

    H2("sa", "org/quartz/impl/jdbcjobstore/tables_h2.sql") {

        /**
         * Returns two indexes that the scripts for other databases have. Without them,
         * Quartz reads all triggers while it holds the lock for which a batch waits.
         */
        @Override
        String indexes() {
            return "CREATE INDEX IDX_QRTZ_T_NFT_ST ON QRTZ_TRIGGERS (SCHED_NAME, TRIGGER_STATE, NEXT_FIRE_TIME);"
                    + "CREATE INDEX IDX_QRTZ_T_NFT_ST_MISFIRE ON QRTZ_TRIGGERS "
                    + "(SCHED_NAME, MISFIRE_INSTR, NEXT_FIRE_TIME, TRIGGER_STATE)";
        }

        @Override
        String newUrl() {
            return "jdbc:h2:tcp://127.0.0.1:%d/mem:source-%d;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=60000"
                .formatted(h2().getPort(), next.incrementAndGet());
        }

    },

    POSTGRESQL("postgres", "org/quartz/impl/jdbcjobstore/tables_postgres.sql") {

        @Override
        String newUrl() {
            String name = "source" + next.incrementAndGet();
            String server = "jdbc:postgresql://127.0.0.1:%d/".formatted(postgres().getPort());
            update(server + "postgres", "CREATE DATABASE " + name);
            return server + name;
        }

    },

    /** Skipped where MariaDB is not installed. */
    MARIADB("root", "org/quartz/impl/jdbcjobstore/tables_mysql_innodb.sql") {

        @Override
        String newUrl() {
            assumeThat(MariaDbServer.isInstalled()).as("MariaDB is installed").isTrue();
            return MariaDbServer.shared().createDatabase("source" + next.incrementAndGet());
        }

        @Override
        String localTime() {
            return "DATETIME";
        }

    };

    private static final AtomicInteger next = new AtomicInteger();

    private static final Map<String, Connection> connections = new ConcurrentHashMap<>();

    private static @Nullable EmbeddedPostgres postgres;

    private static @Nullable Server h2;

    private final String user;

    private final String tables;

    SourceDatabase(String user, String tables) {
        this.user = user;
        this.tables = tables;
    }

    /** Returns the URL of a new database. */
    abstract String newUrl();

    /** Returns the type of columns that hold a time without a zone. */
    String localTime() {
        return "TIMESTAMP";
    }

    /** Returns the name of the user, who has no password. */
    String user() {
        return this.user;
    }

    /** Returns the script of Quartz that creates its tables. */
    String tables() {
        return this.tables;
    }

    /** Returns statements that create the indexes that this script lacks; "" for none. */
    String indexes() {
        return "";
    }

    /** Runs statements, which are separated by semicolons. */
    void update(String url, String statements) {
        try (Statement statement = connection(url).createStatement()) {
            statement.execute(statements);
        }
        catch (SQLException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Returns the first two columns of a query. */
    Map<String, String> query(String url, String sql) {
        try (Statement statement = connection(url).createStatement(); ResultSet rows = statement.executeQuery(sql)) {
            Map<String, String> found = new HashMap<>();
            while (rows.next()) {
                found.put(rows.getString(1), rows.getString(2));
            }
            return found;
        }
        catch (SQLException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Returns whether there is a table, whatever the case of its name. */
    boolean hasTable(String url, String name) {
        Connection connection = connection(url);
        try (ResultSet tables = connection.getMetaData().getTables(connection.getCatalog(), null, null, null)) {
            while (tables.next()) {
                if (tables.getString("TABLE_NAME").equalsIgnoreCase(name)) {
                    return true;
                }
            }
            return false;
        }
        catch (SQLException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Returns the connection of the tests; a test asks for counts all the time. */
    private Connection connection(String url) {
        return connections.computeIfAbsent(url, (unknown) -> {
            try {
                return DriverManager.getConnection((this == MARIADB) ? url + "?allowMultiQueries=true" : url, this.user,
                        "");
            }
            catch (SQLException ex) {
                throw new IllegalStateException(ex);
            }
        });
    }

    private static synchronized Server h2() {
        if (h2 == null) {
            // H2 reads it when it is first used.
            System.setProperty("h2.bindAddress", "127.0.0.1");
            try {
                h2 = Server.createTcpServer("-tcpPort", "0", "-tcpDaemon", "-ifNotExists").start();
            }
            catch (SQLException ex) {
                throw new IllegalStateException(ex);
            }
        }
        return h2;
    }

    private static synchronized EmbeddedPostgres postgres() {
        if (postgres == null) {
            try {
                postgres = EmbeddedPostgres.builder()
                    .setOverrideWorkingDirectory(Path.of("target", "postgres").toAbsolutePath().toFile())
                    .setPGStartupWait(Duration.ofMinutes(2))
                    .start();
            }
            catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
        return postgres;
    }

}
