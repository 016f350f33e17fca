package io.delayqueue.depot;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.delayqueue.fixtures.redis.TcpProxy;
import io.delayqueue.fixtures.redis.TestDirectories;

import static org.awaitility.Awaitility.await;

/**
 * Runs the installed RabbitMQ on loopback, with an empty directory, until the JVM ends.
 */
final class RabbitMqServer implements AmqpServer {

    private static final List<Path> DIRECTORIES = Stream
        .of("/usr/lib/rabbitmq/bin", "/opt/homebrew/opt/rabbitmq/sbin", "/usr/local/opt/rabbitmq/sbin")
        .map(Path::of)
        .toList();

    private static final Duration LIMIT = Duration.ofMinutes(2);

    // The JVM holds the other end of standard input: when it closes, because the JVM has
    // ended, the reader ends the server, and the name server that it has started.
    private static final String GUARD = """
            exec 3<&0
            "$0" 3<&- >console.log 2>&1 &
            server=$!
            (read _ <&3; kill -9 "$(cat pid)") >/dev/null 2>&1 &
            reader=$!
            wait $server
            kill $reader
            epmd -port "$ERL_EPMD_PORT" -kill
            """;

    private final Path programs;

    private final Map<String, String> environment;

    private final Path directory = TestDirectories.create("rabbitmq");

    RabbitMqServer(int port) {
        this.programs = programs().orElseThrow();
        this.environment = Map.ofEntries(Map.entry("HOME", this.directory.toString()),
                Map.entry("RABBITMQ_NODENAME", "dq" + port + "@localhost"),
                Map.entry("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1"),
                Map.entry("RABBITMQ_NODE_PORT", Integer.toString(port)),
                Map.entry("RABBITMQ_DIST_PORT", Integer.toString(TcpProxy.freePort())),
                Map.entry("ERL_EPMD_ADDRESS", "127.0.0.1"),
                Map.entry("ERL_EPMD_PORT", Integer.toString(TcpProxy.freePort())),
                Map.entry("ERL_EPMD_RELAXED_COMMAND_CHECK", "true"),
                Map.entry("RABBITMQ_MNESIA_BASE", this.directory.resolve("data").toString()),
                Map.entry("RABBITMQ_LOG_BASE", this.directory.resolve("log").toString()),
                Map.entry("RABBITMQ_PID_FILE", this.directory.resolve("pid").toString()),
                Map.entry("RABBITMQ_CONF_ENV_FILE", this.directory.resolve("none").toString()),
                Map.entry("RABBITMQ_CONFIG_FILE", this.directory.resolve("rabbitmq").toString()),
                Map.entry("RABBITMQ_ENABLED_PLUGINS_FILE", this.directory.resolve("plugins").toString()));
        start("sh", "-c", GUARD, this.programs.resolve("rabbitmq-server").toString());
        Path console = this.directory.resolve("console.log");
        await().atMost(LIMIT)
            .until(() -> Files.exists(console) && Files.readString(console).contains("completed with"));
    }

    static boolean isInstalled() {
        return programs().isPresent();
    }

    private static Optional<Path> programs() {
        return DIRECTORIES.stream().filter((each) -> Files.isExecutable(each.resolve("rabbitmq-server"))).findFirst();
    }

    @Override
    public String virtualHost() {
        return "/";
    }

    @Override
    public void addUser(String name, String password) {
        control("add_user", name, password);
        control("set_permissions", name, ".*", ".*", ".*");
    }

    @Override
    public void changePassword(String name, String password) {
        control("change_password", name, password);
    }

    /** Makes the broker block or unblock all connections that publish. */
    void memoryAlarm(boolean on) {
        control("set_vm_memory_high_watermark", on ? "0" : "0.8");
    }

    private void control(String... arguments) {
        List<String> command = new ArrayList<>(List.of(this.programs.resolve("rabbitmqctl").toString(), "-q"));
        command.addAll(List.of(arguments));
        try {
            Process control = start(command.toArray(String[]::new));
            String output = new String(control.getInputStream().readAllBytes());
            if (!control.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS) || control.exitValue() != 0) {
                throw new IllegalStateException(command + ": " + output);
            }
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    private Process start(String... command) {
        ProcessBuilder builder = new ProcessBuilder(command).directory(this.directory.toFile())
            .redirectErrorStream(true);
        builder.environment().putAll(this.environment);
        try {
            return builder.start();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

}
