package io.delayqueue.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A {@link Node} under way. What it prints goes to a file. Threads: its user's own, and
 * one that reads.
 */
final class NodeProcess implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 120;

    private static final long MOMENT_SECONDS = 10;

    private final String name;

    private final Process process;

    private final Path output;

    private final CountDownLatch ready = new CountDownLatch(1);

    private NodeProcess(String name, Process process, Path output) {
        this.name = name;
        this.process = process;
        this.output = output;
        Thread reader = new Thread(this::read, "output-of-" + name);
        reader.setDaemon(true);
        reader.start();
    }

    /**
     * Starts a node and waits for nothing.
     * @param wrapper what to put before the command
     * @param classPath where the library and the node's own classes are
     */
    static NodeProcess start(String name, Path directory, List<String> wrapper, String classPath,
            List<String> properties) {
        List<String> command = new ArrayList<>(wrapper);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto",
                "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"), "-cp", classPath, Node.class.getName(),
                "--spring.main.banner-mode=off", "--spring.data.redis.host=127.0.0.1", "--test.node=" + name,
                "--test.history=" + directory.resolve(name + ".history")));
        properties.forEach((property) -> command.add("--" + property));
        try {
            return new NodeProcess(name, new ProcessBuilder(command).redirectErrorStream(true).start(),
                    directory.resolve(name + ".log"));
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void read() {
        try (BufferedReader reader = this.process.inputReader(StandardCharsets.UTF_8);
                var file = Files.newBufferedWriter(this.output)) {
            String line;
            while ((line = reader.readLine()) != null) {
                file.write(line + "\n");
                file.flush();
                if (line.equals(Node.READY)) {
                    this.ready.countDown();
                }
            }
        }
        catch (IOException ex) {
            // It was killed.
        }
    }

    String name() {
        return this.name;
    }

    long pid() {
        return this.process.pid();
    }

    /** Waits until it is ready, and returns whether it is: not if it ended before. */
    boolean awaitReady() throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!this.ready.await(50, TimeUnit.MILLISECONDS)) {
            if (!isAlive()) {
                return false;
            }
            if (System.nanoTime() > end) {
                throw new IllegalStateException("%s did not get ready, see %s".formatted(this.name, this.output));
            }
        }
        return true;
    }

    boolean isAlive() {
        return this.process.isAlive();
    }

    /** Has it do something; ignored by one that is dead. */
    void tell(String line) {
        try {
            this.process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            this.process.getOutputStream().flush();
        }
        catch (IOException ex) {
            // It is dead.
        }
    }

    void signal(String signal) {
        try {
            new ProcessBuilder("kill", "-" + signal, Long.toString(pid())).start().waitFor();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    /** Stops it in good order and returns how it ended. */
    int stop() throws InterruptedException {
        tell("stop");
        if (!this.process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("%s did not stop, see %s".formatted(this.name, this.output));
        }
        return this.process.exitValue();
    }

    /** Kills it; on return it is gone. */
    @Override
    public void close() {
        // A wrapper stays in between: what it has started would live on, and it clears
        // up once that is gone.
        List<ProcessHandle> wrapped = this.process.descendants().toList();
        wrapped.forEach(ProcessHandle::destroyForcibly);
        try {
            if (wrapped.isEmpty() || !this.process.waitFor(MOMENT_SECONDS, TimeUnit.SECONDS)) {
                this.process.destroyForcibly();
            }
            this.process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

}
