package io.delayqueue.integration;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.delayqueue.testing.RedisUser;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A {@link ChildApplication} under way; dies with its object's {@link #close()}. Threads:
 * the test's own, and one that reads what the child says.
 */
public final class ChildJvm implements AutoCloseable {

    private final Process process;

    private final BlockingQueue<String> news = new LinkedBlockingQueue<>();

    private final List<String> output = new CopyOnWriteArrayList<>();

    private ChildJvm(Process process) {
        this.process = process;
        Thread reader = new Thread(this::read, "child-output");
        reader.setDaemon(true);
        reader.start();
    }

    /**
     * Starts a child and waits for nothing.
     * @param wrapper what to put before the command, such as {@code faketime -f +1h}
     */
    static ChildJvm start(List<String> wrapper, String... properties) {
        return start(wrapper, "96m", ChildApplication.class, properties);
    }

    /**
     * Starts another application.
     * @param heap most memory for objects
     * @param application its main class, which says {@code READY} when it is
     */
    public static ChildJvm start(String heap, Class<?> application, String... properties) {
        return start(List.of(), heap, application, properties);
    }

    /**
     * Starts another application with another class path.
     * @param options of the JVM
     */
    static ChildJvm start(Stream<Path> classPath, List<String> options, Class<?> application, String... properties) {
        List<String> all = new ArrayList<>(options);
        all.addAll(List.of("-Xmx192m", "-cp",
                classPath.map(Path::toString).collect(Collectors.joining(File.pathSeparator))));
        return start(List.of(), all, application, properties);
    }

    private static ChildJvm start(List<String> wrapper, String heap, Class<?> application, String... properties) {
        return start(wrapper, List.of("-Xmx" + heap, "-cp", System.getProperty("java.class.path")), application,
                properties);
    }

    private static ChildJvm start(List<String> wrapper, List<String> options, Class<?> application,
            String... properties) {
        List<String> command = new ArrayList<>(wrapper);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"), application.getName(),
                "--spring.main.banner-mode=off"));
        for (String property : RedisUser.asAsked(properties)) {
            command.add("--" + property);
        }
        try {
            return new ChildJvm(new ProcessBuilder(command).redirectErrorStream(true).start());
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void read() {
        try (BufferedReader reader = this.process.inputReader(StandardCharsets.UTF_8)) {
            String line;
            while ((line = reader.readLine()) != null) {
                this.output.add(line);
                if (line.startsWith("HANDLING ") || line.startsWith("READY ")) {
                    this.news.add(line);
                }
            }
        }
        catch (IOException ex) {
            this.output.add(ex.toString());
        }
    }

    /** The next thing it said of itself. */
    public String next() throws InterruptedException {
        String line = this.news.poll(Applications.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        assertThat(line).as(() -> "news of the child, which said: " + String.join("\n", this.output)).isNotNull();
        return line;
    }

    /** As {@link #next()}, but {@code null} if there is nothing new for a moment. */
    @Nullable String poll() throws InterruptedException {
        return this.news.poll(100, TimeUnit.MILLISECONDS);
    }

    /** Waits until it has logged a line with the text. */
    void awaitOutput(String text) {
        Applications.await(() -> assertThat(this.output).anyMatch((line) -> line.contains(text)));
    }

    /** What it has said so far. */
    public List<String> output() {
        return List.copyOf(this.output);
    }

    /** Lets a handler that waits go on. */
    void goOn() throws IOException {
        this.process.getOutputStream().write('\n');
        this.process.getOutputStream().flush();
    }

    void signal(String name) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(this.process.pid())).start().waitFor())
            .isZero();
    }

    void awaitEnd() throws InterruptedException {
        assertThat(this.process.waitFor(Applications.PATIENCE.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    }

    /** Kills it; on return it is gone. */
    @Override
    public void close() {
        // A wrapper stays in between, and what it has started would live on.
        this.process.descendants().forEach(ProcessHandle::destroyForcibly);
        this.process.destroyForcibly();
        try {
            awaitEnd();
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

}
