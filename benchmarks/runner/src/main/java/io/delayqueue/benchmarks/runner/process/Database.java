package io.delayqueue.benchmarks.runner.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

/**
 * Starts a database server for all contenders, with a new database for each, and with the
 * durability of production: a commit is on disk. Ends with this JVM.
 */
public final class Database {

    private static final Path MARIADB = Path.of("/usr/sbin/mariadbd");

    private static final Path MARIADB_INSTALLER = Path.of("/usr/bin/mariadb-install-db");

    private static final Duration START = Duration.ofMinutes(2);

    private final Kind kind;

    private final String base;

    private final String suffix;

    private final long pid;

    private int created;

    private Database(Kind kind, String base, String suffix, long pid) {
        this.kind = kind;
        this.base = base;
        this.suffix = suffix;
        this.pid = pid;
    }

    /** Whether a server of this kind is available on this machine. */
    public static boolean isAvailable(Kind kind) {
        return switch (kind) {
            case H2 -> true;
            case POSTGRESQL -> (System.getProperty("os.name") + System.getProperty("os.arch")).equals("Linuxamd64");
            case MARIADB -> Files.isExecutable(MARIADB) && Files.isExecutable(MARIADB_INSTALLER);
        };
    }

    /**
     * Starts a server.
     * @param scratch directory for its files
     */
    public static Database start(Kind kind, Path scratch) {
        try {
            Path directory = scratch.toAbsolutePath()
                .resolve(kind.name().toLowerCase(Locale.ROOT) + "-" + System.nanoTime());
            Files.createDirectories(directory);
            return switch (kind) {
                case H2 -> new Database(kind, "jdbc:h2:file:" + directory + "/", ";WRITE_DELAY=0;DB_CLOSE_DELAY=-1", 0);
                case POSTGRESQL -> startPostgres(directory);
                case MARIADB -> startMariaDb(directory);
            };
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static Database startPostgres(Path directory) throws IOException {
        Path data = directory.resolve("data");
        EmbeddedPostgres server = EmbeddedPostgres.builder()
            .setOverrideWorkingDirectory(directory.toFile())
            .setDataDirectory(data)
            .setServerConfig("synchronous_commit", "on")
            .setServerConfig("fsync", "on")
            .setPGStartupWait(START)
            .start();
        long pid = Long.parseLong(Files.readAllLines(data.resolve("postmaster.pid")).get(0).trim());
        return new Database(Kind.POSTGRESQL, "jdbc:postgresql://127.0.0.1:%d/".formatted(server.getPort()),
                "?user=postgres", pid);
    }

    private static Database startMariaDb(Path directory) throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        await(mariaDb(MARIADB_INSTALLER, directory, "--auth-root-authentication-method=normal"));
        Process server = mariaDb(MARIADB, directory, "--port=" + port, "--bind-address=127.0.0.1",
                "--socket=" + directory.resolve("mariadb.sock"), "--pid-file=" + directory.resolve("mariadb.pid"));
        Runtime.getRuntime().addShutdownHook(new Thread(server::destroyForcibly));
        Database database = new Database(Kind.MARIADB, "jdbc:mariadb://127.0.0.1:%d/".formatted(port),
                "?user=root&password=", server.pid());
        long limit = System.nanoTime() + START.toNanos();
        while (!database.answers()) {
            if (!server.isAlive() || System.nanoTime() > limit) {
                throw new IllegalStateException("MariaDB does not start; see " + directory);
            }
            // Real time: MariaDB, another process, starts.
            Pause.millis(100);
        }
        return database;
    }

    private static void await(Process process) {
        try {
            if (process.waitFor() != 0) {
                throw new IllegalStateException("MariaDB could not be set up");
            }
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    private static Process mariaDb(Path program, Path directory, String... options) throws IOException {
        List<String> command = new ArrayList<>(List.of(program.toString(), "--no-defaults", "--datadir=" + directory,
                "--user=" + System.getProperty("user.name")));
        command.addAll(List.of(options));
        return new ProcessBuilder(command).redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(directory.resolve("mariadb.log").toFile()))
            .start();
    }

    private boolean answers() {
        try {
            open().close();
            return true;
        }
        catch (SQLException ex) {
            return false;
        }
    }

    /** The database that a server has from the start. */
    private Connection open() throws SQLException {
        return DriverManager.getConnection(this.base + this.kind.first + this.suffix);
    }

    /** Creates an empty database and returns its URL. */
    public String create() {
        String name = "bench" + ++this.created;
        if (this.kind != Kind.H2) {
            try (Connection connection = open(); Statement statement = connection.createStatement()) {
                statement.execute("CREATE DATABASE " + name);
            }
            catch (SQLException ex) {
                throw new IllegalStateException(ex);
            }
        }
        return this.base + name + this.suffix;
    }

    /**
     * CPU time that it has used with all its processes, in microseconds; zero for one
     * inside the contender's JVM.
     */
    public double cpuMicros() {
        return (this.pid == 0) ? 0
                : ProcessHandle.of(this.pid)
                    .map((server) -> Stream.concat(Stream.of(server), server.descendants())
                        .mapToDouble((process) -> Machine.cpuMicros(process.pid()))
                        .sum())
                    .orElse(0.0);
    }

    /** A kind of server. */
    public enum Kind {

        /** In the contender's JVM, with a file that each commit writes to. */
        H2("H2", ""),

        /** The binaries of the tests. */
        POSTGRESQL("PostgreSQL", "postgres"),

        /** The installed one. */
        MARIADB("MariaDB", "mysql");

        private final String title;

        private final String first;

        Kind(String title, String first) {
            this.title = title;
            this.first = first;
        }

        /** The name in tables. */
        public String title() {
            return this.title;
        }

    }

}
