package io.delayqueue.shop;

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
import java.util.concurrent.TimeUnit;

import static org.awaitility.Awaitility.await;

/**
 * Runs the installed MariaDB on a free port of the loopback interface, with an empty
 * directory.
 */
final class MariaDbServer {

    private static final Path SERVER = Path.of("/usr/sbin/mariadbd");

    private static final Path INSTALLER = Path.of("/usr/bin/mariadb-install-db");

    private static final Duration START = Duration.ofMinutes(2);

    private static MariaDbServer shared;

    private final int port;

    private MariaDbServer() throws IOException, InterruptedException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            this.port = socket.getLocalPort();
        }
        Path directory = Files.createTempDirectory("mariadb");
        Process installer = process(INSTALLER, directory, "--auth-root-authentication-method=normal");
        if (!installer.waitFor(START.toSeconds(), TimeUnit.SECONDS) || installer.exitValue() != 0) {
            throw new IllegalStateException("No database in " + directory + "; see mariadb.log there");
        }
        Process server = process(SERVER, directory, "--port=" + this.port, "--bind-address=127.0.0.1",
                "--socket=" + directory.resolve("mariadb.sock"), "--pid-file=" + directory.resolve("mariadb.pid"));
        Runtime.getRuntime().addShutdownHook(new Thread(server::destroyForcibly));
        await().atMost(START).ignoreExceptions().until(() -> {
            open("mysql").close();
            return true;
        });
    }

    static boolean isInstalled() {
        return Files.isExecutable(SERVER) && Files.isExecutable(INSTALLER);
    }

    /** Returns the server of this JVM, which ends with it. */
    static synchronized MariaDbServer shared() {
        try {
            if (shared == null) {
                shared = new MariaDbServer();
            }
            return shared;
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    /** Creates a database and returns its URL. */
    String createDatabase(String name) {
        try (Connection connection = open("mysql"); Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + name);
            return url(name) + "?user=root&password=";
        }
        catch (SQLException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private Connection open(String name) throws SQLException {
        return DriverManager.getConnection(url(name), "root", "");
    }

    private String url(String name) {
        return "jdbc:mariadb://127.0.0.1:%d/%s".formatted(this.port, name);
    }

    private static Process process(Path program, Path directory, String... options) throws IOException {
        List<String> command = new ArrayList<>(List.of(program.toString(), "--no-defaults", "--datadir=" + directory,
                "--user=" + System.getProperty("user.name")));
        command.addAll(List.of(options));
        Path log = directory.resolve("mariadb.log");
        return new ProcessBuilder(command).redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    }

}
