package io.delayqueue.benchmarks.runner.process;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The Redis to measure on: what the user names, else the one on the {@code PATH}, else
 * the one that the tests unpack, which is slower (another allocator).
 *
 * @param path the executable
 * @param from where it comes from, for the report
 */
public record RedisBinary(Path path, String from) {

    private static final String PROPERTY = "bench.redis";

    /**
     * Finds one.
     * @param root directory of the project
     */
    public static RedisBinary find(Path root) {
        String named = System.getProperty(PROPERTY, "");
        if (!named.isEmpty()) {
            return new RedisBinary(Path.of(named), "-D" + PROPERTY);
        }
        return onPath("redis-server").map((path) -> new RedisBinary(path, "PATH"))
            .or(() -> unpacked(root.resolve("delayqueue-autoconfigure/target/redis/7.0")))
            .orElseThrow(() -> new IllegalStateException(
                    "There is no redis-server on the PATH, and none was unpacked; name one with -D" + PROPERTY));
    }

    /** A program on the {@code PATH}. */
    public static Optional<Path> onPath(String program) {
        return Stream.of(Optional.ofNullable(System.getenv("PATH")).orElse("").split(Pattern.quote(File.pathSeparator)))
            .map((directory) -> Path.of(directory, program))
            .filter(Files::isExecutable)
            .findFirst();
    }

    private static Optional<RedisBinary> unpacked(Path directory) {
        String os = System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("mac") ? "darwin" : "linux";
        String arch = System.getProperty("os.arch").matches("aarch64|arm64") ? "arm64" : "amd64";
        File[] files = directory.toFile().listFiles((file) -> file.getName().endsWith(os + "-" + arch));
        return Stream.of((files != null) ? files : new File[0])
            .filter((file) -> file.canExecute() || file.setExecutable(true))
            .map((file) -> new RedisBinary(file.toPath(), "embedded, slower than a packaged one"))
            .findFirst();
    }

}
