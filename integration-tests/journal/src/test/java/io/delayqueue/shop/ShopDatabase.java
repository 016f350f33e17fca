package io.delayqueue.shop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.delayqueue.fixtures.MariaDbServer;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.h2.tools.Server;

import static org.assertj.core.api.Assumptions.assumeThat;

/** Provides databases that are empty, one after another, for each kind of server. */
public enum ShopDatabase {

    H2 {

        @Override
        public String url() {
            return "jdbc:h2:mem:shop%d;DB_CLOSE_DELAY=-1".formatted(next.incrementAndGet());
        }

        @Override
        public String serverUrl() {
            return "jdbc:h2:tcp://127.0.0.1:%d/mem:shop%d;DB_CLOSE_DELAY=-1;USER=sa".formatted(h2().getPort(),
                    next.incrementAndGet());
        }

        @Override
        public String copy(String url) {
            String copy = url();
            try (var source = DriverManager.getConnection(url, "sa", "");
                    var target = DriverManager.getConnection(copy, "sa", "");
                    var lines = source.createStatement().executeQuery("SCRIPT");
                    var statement = target.createStatement()) {
                while (lines.next()) {
                    String line = lines.getString(1);
                    if (!line.startsWith("CREATE USER")) {
                        statement.execute(line);
                    }
                }
            }
            catch (SQLException ex) {
                throw new IllegalStateException(ex);
            }
            return copy;
        }

    },

    POSTGRESQL {

        @Override
        public String url() {
            assumeThat(System.getProperty("os.name") + System.getProperty("os.arch"))
                .as("the binaries of PostgreSQL are those of this platform")
                .isEqualTo("Linuxamd64");
            return create("");
        }

        @Override
        public String copy(String url) {
            return create(" TEMPLATE " + URI.create(url.substring("jdbc:".length())).getPath().substring(1));
        }

        private String create(String options) {
            String name = "shop" + next.incrementAndGet();
            try (var connection = postgres().getPostgresDatabase().getConnection();
                    var statement = connection.createStatement()) {
                statement.execute("CREATE DATABASE " + name + options);
            }
            catch (SQLException ex) {
                throw new IllegalStateException(ex);
            }
            return postgres().getJdbcUrl("postgres", name);
        }

    },

    /** Skipped where MariaDB is not installed. */
    MARIADB {

        @Override
        public String url() {
            assumeThat(MariaDbServer.isInstalled()).as("MariaDB is installed").isTrue();
            return MariaDbServer.shared().createDatabase("shop" + next.incrementAndGet()) + "?user=root&password=";
        }

        /** Copies the tables; the copy of a row keeps its generated key. */
        @Override
        public String copy(String url) {
            String copy = url();
            try (var source = DriverManager.getConnection(url);
                    var target = DriverManager.getConnection(copy);
                    var tables = source.createStatement().executeQuery("SHOW TABLES");
                    var statement = target.createStatement()) {
                while (tables.next()) {
                    String table = source.getCatalog() + "." + tables.getString(1);
                    statement.execute("CREATE TABLE %s LIKE %s".formatted(tables.getString(1), table));
                    statement.execute("INSERT INTO %s SELECT * FROM %s".formatted(tables.getString(1), table));
                }
            }
            catch (SQLException ex) {
                throw new IllegalStateException(ex);
            }
            return copy;
        }

    };

    private static final AtomicInteger next = new AtomicInteger();

    private static EmbeddedPostgres postgres;

    private static Server h2;

    /** Returns the URL of a new database. */
    public abstract String url();

    /**
     * Returns the URL of a copy of a database, as the restore of a backup makes it.
     * @param url the database, which has no connection
     */
    public abstract String copy(String url);

    /**
     * Returns the URL of a new database that several processes can use, and that loses
     * nothing when one of them is killed.
     */
    public String serverUrl() {
        return url();
    }

    /** Starts the server on first use; it ends with the JVM. */
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

    /** Starts the server on first use; it ends with the JVM. */
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
