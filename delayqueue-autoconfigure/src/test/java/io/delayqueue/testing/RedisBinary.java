package io.delayqueue.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * A Redis to test on: two versions that the build brings, and what the user names.
 * Threads: safe; each binary is looked for once.
 */
public enum RedisBinary {

    /**
     * The oldest Redis supported, unpacked by the build.
     */
    REDIS_6_2,

    /**
     * The newest that comes in a jar, unpacked by the build.
     */
    REDIS_7_0,

    /**
     * The one at {@code -Ddq.redis.binary}, else {@code redis-server} on the
     * {@code PATH}.
     */
    GIVEN,

    /**
     * Not a binary but a server that runs already, at {@code -Ddq.redis.url}. It can only
     * be {@link RedisServer#shared(RedisBinary) shared}; tests that start a server skip
     * it.
     */
    AT_URL;

    static final String BINARY_PROPERTY = "dq.redis.binary";

    static final String URL_PROPERTY = "dq.redis.url";

    private static final Pattern VERSION = Pattern.compile("\\bv=(\\d+(?:\\.\\d+)*)");

    private @Nullable Lookup lookup;

    /**
     * Those to test on here: the two of the build, which are skipped where they do not
     * run, and the others if there are any. Meant for {@code @MethodSource}.
     */
    public static Stream<RedisBinary> all() {
        return Stream.of(values()).filter((binary) -> switch (binary) {
            case REDIS_6_2, REDIS_7_0 -> true;
            case GIVEN -> System.getProperty(BINARY_PROPERTY) != null || onPath().isPresent();
            case AT_URL -> System.getProperty(URL_PROPERTY) != null;
        });
    }

    /**
     * As {@link #all()}, without the one that cannot be started.
     */
    public static Stream<RedisBinary> startable() {
        return all().filter((binary) -> binary != AT_URL);
    }

    /**
     * The one for a test that runs on one Redis only: what the user named, else the
     * newest that works. Can be started.
     */
    public static RedisBinary preferred() {
        if (System.getProperty(BINARY_PROPERTY) != null) {
            return GIVEN;
        }
        return Stream.of(REDIS_7_0, REDIS_6_2, GIVEN).filter(RedisBinary::isAvailable).findFirst().orElse(REDIS_7_0);
    }

    /**
     * Whether it can be started here.
     */
    public boolean isAvailable() {
        return lookup().path() != null;
    }

    /**
     * The executable. Skips the test, with the reason, if there is none that works here.
     */
    public Path path() {
        Lookup found = lookup();
        if (found.path() == null) {
            if (this == GIVEN && System.getProperty(BINARY_PROPERTY) != null) {
                throw new IllegalStateException(found.problem());
            }
            return Assumptions.abort(found.problem());
        }
        return found.path();
    }

    /**
     * What the executable calls itself, such as "6.2.11".
     */
    public String version() {
        path();
        return lookup().version();
    }

    /**
     * Whether the executable is of this version, or newer: {@code isAtLeast(7)}.
     */
    public boolean isAtLeast(int major) {
        return Integer.parseInt(version().split("\\.")[0]) >= major;
    }

    private synchronized Lookup lookup() {
        if (this.lookup == null) {
            this.lookup = Lookup.first(this, candidates());
        }
        return this.lookup;
    }

    private List<Path> candidates() {
        return switch (this) {
            case REDIS_6_2 -> unpacked("6.2");
            case REDIS_7_0 -> unpacked("7.0");
            case GIVEN -> Optional.ofNullable(System.getProperty(BINARY_PROPERTY))
                .map(Path::of)
                .or(RedisBinary::onPath)
                .stream()
                .toList();
            case AT_URL -> List.of();
        };
    }

    private static List<Path> unpacked(String version) {
        File[] files = TestDirectories.target().resolve("redis").resolve(version).toFile().listFiles();
        List<Path> matching = new ArrayList<>();
        for (String platform : platforms()) {
            for (File file : (files != null) ? files : new File[0]) {
                if (file.getName().endsWith(platform) && (file.canExecute() || file.setExecutable(true))) {
                    matching.add(file.toPath());
                }
            }
        }
        return matching;
    }

    // The 386 binaries are static, so they also run where a library of the other is
    // missing.
    private static List<String> platforms() {
        String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String arch = System.getProperty("os.arch");
        boolean arm = arch.equals("aarch64") || arch.equals("arm64");
        boolean intel = arch.equals("amd64") || arch.equals("x86_64");
        if (os.contains("linux") && intel) {
            return List.of("-linux-amd64", "-linux-386");
        }
        if (os.contains("linux") && arm) {
            return List.of("-linux-arm64");
        }
        if (os.contains("mac") && (intel || arm)) {
            return List.of(arm ? "-darwin-arm64" : "-darwin-amd64");
        }
        return List.of();
    }

    private static Optional<Path> onPath() {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
        return Stream.of(path.split(Pattern.quote(File.pathSeparator)))
            .map((directory) -> Path.of(directory, "redis-server"))
            .filter(Files::isExecutable)
            .findFirst();
    }

    private record Lookup(@Nullable Path path, String version, String problem) {

        static Lookup first(RedisBinary binary, List<Path> candidates) {
            List<String> problems = new ArrayList<>();
            for (Path candidate : candidates) {
                String answer = askVersion(candidate);
                Matcher matcher = VERSION.matcher(answer);
                if (matcher.find()) {
                    return new Lookup(candidate, matcher.group(1), "");
                }
                problems.add("%s does not run here: %s".formatted(candidate, answer.strip()));
            }
            String problem = (problems.isEmpty()) ? "none for %s on %s in %s; run 'mvn generate-test-resources'"
                .formatted(System.getProperty("os.name"), System.getProperty("os.arch"),
                        TestDirectories.target().resolve("redis"))
                    : String.join("; ", problems);
            return new Lookup(null, "", "No %s to start: %s".formatted(binary, problem));
        }

        private static String askVersion(Path executable) {
            try {
                Process process = new ProcessBuilder(executable.toString(), "--version").redirectErrorStream(true)
                    .start();
                process.getOutputStream().close();
                if (!process.waitFor(30, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                    return "no answer to --version";
                }
                return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            }
            catch (IOException ex) {
                return String.valueOf(ex.getMessage());
            }
            catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
                throw new UncheckedIOException(new IOException("Interrupted", ex));
            }
        }

    }

}
