package io.delayqueue.move;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs a program in a JVM of its own: an application of another library, or the tool.
 * Threads: confined to the test's, and one that reads the output.
 */
final class PeerJvm implements AutoCloseable {

    /** An application needs long to send a million entries. */
    static final long LIMIT_MINUTES = 10 + MoveTestBase.ENTRIES / 20_000;

    private static final String MAIN = "io.delayqueue.migrate.cli.Main";

    private final Process process;

    private final List<String> output = new CopyOnWriteArrayList<>();

    private final Thread reader;

    private PeerJvm(List<String> command) {
        try {
            this.process = new ProcessBuilder(command).redirectErrorStream(true).start();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        this.reader = new Thread(this::read, "peer-output");
        this.reader.setDaemon(true);
        this.reader.start();
    }

    /** Starts an application of another library, with the class path of its module. */
    static PeerJvm start(String module, String main, Object... arguments) {
        Path target = Path.of("peers", module, "target").toAbsolutePath();
        try {
            String classPath = target.resolve("classes") + File.pathSeparator
                    + Files.readString(target.resolve("class-path"));
            return launch(classPath, main, arguments);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Returns a resource of the class path of a module. */
    static String resource(String module, String name) {
        Path classPath = Path.of("peers", module, "target", "class-path");
        try {
            for (String jar : Files.readString(classPath).split(File.pathSeparator)) {
                try (ZipFile file = new ZipFile(jar)) {
                    ZipEntry entry = file.getEntry(name);
                    if (entry != null) {
                        return new String(file.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8);
                    }
                }
            }
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        throw new IllegalArgumentException(name);
    }

    /**
     * Starts the tool, with the class path of this test and, behind it, with that of the
     * module of another library, which holds the decoders of its application.
     */
    static PeerJvm toolWith(String module, String... arguments) {
        Path target = Path.of("peers", module, "target").toAbsolutePath();
        try {
            String more = target.resolve("classes") + File.pathSeparator
                    + Files.readString(target.resolve("class-path"));
            return launch(classPath() + File.pathSeparator + more, MAIN, (Object[]) arguments);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Starts the tool, with the class path of this test. */
    static PeerJvm tool(String... arguments) {
        return launch(classPath(), MAIN, (Object[]) arguments);
    }

    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    private static PeerJvm launch(String classPath, String main, Object... arguments) {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx512m",
                        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classPath, main));
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        return new PeerJvm(command);
    }

    private void read() {
        try (BufferedReader lines = this.process.inputReader(StandardCharsets.UTF_8)) {
            lines.lines().forEach(this.output::add);
        }
        catch (IOException ex) {
            this.output.add(ex.toString());
        }
    }

    /** Waits until a line begins with the text, and returns the line. */
    String await(String text) {
        Awaitility.await().atMost(LIMIT_MINUTES, TimeUnit.MINUTES).until(() -> line(text) != null || !isAlive());
        String line = line(text);
        assertThat(line).as(() -> "line '%s' in the output:%n%s".formatted(text, text())).isNotNull();
        return line;
    }

    private @Nullable String line(String text) {
        return this.output.stream().filter((line) -> line.startsWith(text)).findFirst().orElse(null);
    }

    boolean isAlive() {
        return this.process.isAlive() || this.reader.isAlive();
    }

    /** Asks the application to end, and waits for it. */
    int stop() {
        try {
            this.process.getOutputStream().write('\n');
            this.process.getOutputStream().flush();
        }
        catch (IOException ex) {
            // It has ended by itself.
        }
        return exit();
    }

    /** Sends SIGTERM, and waits for the end. */
    int terminate() {
        // The destroy of a process also closes its output.
        this.process.toHandle().destroy();
        return exit();
    }

    /** Waits for the end. */
    int exit() {
        try {
            assertThat(this.process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES)).as(this::text).isTrue();
            this.reader.join();
            return this.process.exitValue();
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    /** Returns what it has printed. */
    String text() {
        return String.join("\n", this.output);
    }

    /** Sends SIGKILL; on return it has ended. */
    @Override
    public void close() {
        this.process.destroyForcibly();
        exit();
    }

}
