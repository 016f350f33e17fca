package io.delayqueue.benchmarks.runner.process;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A contender in a JVM of its own. It ends when its standard input does, and so with this
 * JVM. Threads: one at a time.
 */
public final class ContenderProcess implements AutoCloseable {

    /** Flags of every contender's JVM. */
    public static final List<String> FLAGS = List.of("-Xms512m", "-Xmx1g", "-XX:+UseParallelGC");

    /** A request that takes longer has hung; its process is killed. */
    private static final int WAIT_LIMIT_MINUTES = 20;

    private final Process process;

    private final Path log;

    private final PrintStream requests;

    private final BufferedReader answers;

    private ContenderProcess(Process process, Path log) {
        this.process = process;
        this.log = log;
        this.requests = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        this.answers = process.inputReader(StandardCharsets.UTF_8);
    }

    /**
     * Starts it.
     * @param root directory of the project
     * @param log where its standard error goes
     * @param flags of the JVM
     */
    public static ContenderProcess start(Variant variant, Path root, Path log, List<String> flags) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        command.addAll(List.of("-cp", classPath(variant, root), variant.mainClass()));
        try {
            Files.createDirectories(log.toAbsolutePath().getParent());
            return new ContenderProcess(new ProcessBuilder(command).redirectError(log.toFile()).start(), log);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    static String classPath(Variant variant, Path root) {
        Path module = root.resolve("benchmarks").resolve(variant.module());
        try {
            String path = module.resolve("target/classes") + File.pathSeparator
                    + Files.readString(module.resolve("target/class-path")).trim();
            return variant.isElsewhere() ? onLibrary(path, root, variant.library()) : path;
        }
        catch (IOException ex) {
            throw new UncheckedIOException("Build the module '%s' first".formatted(variant.module()), ex);
        }
    }

    /** Takes the modules of the library from another directory. */
    private static String onLibrary(String path, Path root, Path library) {
        List<String> elements = new ArrayList<>();
        for (String element : path.split(File.pathSeparator)) {
            Path file = Path.of(element).toAbsolutePath();
            Path relative = file.startsWith(root) ? root.relativize(file) : file;
            boolean ofLibrary = relative.startsWith("delayqueue-autoconfigure")
                    || relative.startsWith("delayqueue-starter");
            elements
                .add(ofLibrary ? library.resolve(relative.getName(0)).resolve("target/classes").toString() : element);
        }
        return String.join(File.pathSeparator, elements);
    }

    /**
     * Sends a request and waits for its answer.
     * @throws IllegalStateException if it failed, or the process is gone, or was killed
     * because there was no answer
     */
    public Reply call(String request) {
        CompletableFuture<?> watch = CompletableFuture.runAsync(this.process::destroyForcibly,
                CompletableFuture.delayedExecutor(WAIT_LIMIT_MINUTES, TimeUnit.MINUTES));
        this.requests.println(request);
        try {
            String answer = this.answers.readLine();
            while (answer != null && !answer.matches("(ok|error)\\b.*")) { // the JVM
                                                                           // itself has a
                                                                           // word to say
                answer = this.answers.readLine();
            }
            if (answer == null || !answer.startsWith("ok")) {
                throw new IllegalStateException(
                        "'%s' failed: %s; see %s".formatted(request, answer, this.log.getFileName()));
            }
            return Reply.parse(answer);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        finally {
            watch.cancel(false);
        }
    }

    /** CPU time that it has used. */
    public Duration cpu() {
        return this.process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    boolean isAlive() {
        return this.process.isAlive();
    }

    public long pid() {
        return this.process.pid();
    }

    /** Kills it with SIGKILL; on return it is gone. */
    public void kill() {
        this.process.destroyForcibly();
        await();
    }

    @Override
    public void close() {
        this.requests.close();
        await();
    }

    private void await() {
        try {
            if (!this.process.waitFor(30, TimeUnit.SECONDS)) {
                this.process.destroyForcibly();
                this.process.waitFor();
            }
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            this.process.destroyForcibly();
        }
    }

}
