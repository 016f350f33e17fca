package io.delayqueue.benchmarks.runner.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Describes this machine and its other load. */
public final class Machine {

    private static final Path STAT = Path.of("/proc/stat");

    /** Linux counts the time of processes and cores in hundredths of a second. */
    private static final double MICROS_PER_TICK = 10_000;

    private Machine() {
    }

    /** Time of all cores since the start: in all, stolen, idle. Zero where not known. */
    public static Cores cores() {
        if (!Files.exists(STAT)) {
            return new Cores(0, 0, 0);
        }
        try (Stream<String> lines = Files.lines(STAT)) {
            String[] words = lines.findFirst().orElseThrow().split(" +");
            long[] ticks = Stream.of(words).skip(1).limit(8).mapToLong(Long::parseLong).toArray();
            return new Cores(LongStream.of(ticks).sum(), ticks[7], ticks[3] + ticks[4]);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /**
     * Returns the CPU time of a process and of its children that have ended, in
     * microseconds. Zero where not known, and if it has ended.
     */
    public static double cpuMicros(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", String.valueOf(pid), "stat"));
            String[] words = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return Stream.of(words).skip(11).limit(4).mapToLong(Long::parseLong).sum() * MICROS_PER_TICK;
        }
        catch (IOException ex) {
            return 0;
        }
    }

    public static double load() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    public static String describe() {
        String memory = "";
        if (ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system) {
            memory = ", %d GiB".formatted(Math.round(system.getTotalMemorySize() / (double) (1L << 30)));
        }
        return "%s %s, %d cores%s".formatted(System.getProperty("os.name"), System.getProperty("os.arch"),
                Runtime.getRuntime().availableProcessors(), memory);
    }

    /** The commit of the directory; "unknown" where there is no git. */
    public static String commit(Path root) {
        return git(root, "rev-parse", "--short=10", "HEAD").orElse("unknown");
    }

    /**
     * Returns whether files under version control differ from the commit, except for
     * those that a full run writes itself.
     */
    public static boolean isDirty(Path root) {
        return git(root, "status", "--porcelain", "--untracked-files=no", "--", ".", ":!benchmarks/results",
                ":!README.md", ":!docs/comparison.md", ":!docs/performance.md",
                ":!docs/internals/performance-details.md", ":!docs/performance")
            .map((status) -> !status.isEmpty())
            .orElse(false);
    }

    private static Optional<String> git(Path root, String... words) {
        try {
            Process process = new ProcessBuilder(Stream.concat(Stream.of("git"), Stream.of(words)).toList())
                .directory(root.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
            return (process.waitFor() == 0) ? Optional.of(text) : Optional.empty();
        }
        catch (IOException ex) {
            return Optional.empty();
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    /**
     * Time of all cores, in ticks.
     */
    public record Cores(long all, long stolen, long idle) {

        public double stealPercentSince(Cores before) {
            return percent((double) (this.stolen - before.stolen), before);
        }

        public double idlePercentSince(Cores before) {
            return percent((double) (this.idle - before.idle), before);
        }

        /**
         * Returns the share that processes other than those of the benchmark used.
         * @param ownMicros CPU time of the processes of the benchmark
         */
        public double otherPercentSince(Cores before, double ownMicros) {
            double busy = (this.all - this.stolen - this.idle) - (before.all - before.stolen - before.idle);
            return Math.max(0, percent(busy - ownMicros / MICROS_PER_TICK, before));
        }

        private double percent(double part, Cores before) {
            return (this.all > before.all) ? 100.0 * part / (this.all - before.all) : 0;
        }

    }

}
