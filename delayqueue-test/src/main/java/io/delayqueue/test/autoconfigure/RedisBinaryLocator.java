package io.delayqueue.test.autoconfigure;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Enumeration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Finds a {@code redis-server}: in one of the jars with binaries, if it is on the class
 * path, or else on the {@code PATH}.
 */
final class RedisBinaryLocator {

    /** Both artifacts that bring binaries have this class. */
    private static final String MARKER = "redis/embedded/RedisServer.class";

    private RedisBinaryLocator() {
    }

    static Path locate() {
        return fromJar().or(RedisBinaryLocator::onPath)
            .orElseThrow(
                    () -> new IllegalStateException("There is no Redis for tests with store = REDIS: nothing names a "
                            + "server, and there is no redis-server for %s on %s. Either add the test dependency "
                                .formatted(System.getProperty("os.name"), System.getProperty("os.arch"))
                            + "com.github.codemonstur:embedded-redis or org.signal:embedded-redis, or install redis-server, or "
                            + "use Testcontainers with @ServiceConnection, or set spring.data.redis.host, or use "
                            + "store = MEMORY"));
    }

    private static Optional<Path> fromJar() {
        ClassLoader loader = RedisBinaryLocator.class.getClassLoader();
        URL marker = loader.getResource(MARKER);
        if (marker == null) {
            return Optional.empty();
        }
        try {
            URLConnection connection = marker.openConnection();
            if (!(connection instanceof JarURLConnection jarConnection)) {
                return Optional.empty();
            }
            JarFile jar = jarConnection.getJarFile();
            for (String platform : platforms()) {
                Optional<JarEntry> entry = entry(jar, platform);
                if (entry.isPresent()) {
                    return Optional.of(extract(jar, entry.get()));
                }
            }
            return Optional.empty();
        }
        catch (IOException ex) {
            throw new UncheckedIOException("Cannot read the redis-server in %s".formatted(marker), ex);
        }
    }

    private static Optional<JarEntry> entry(JarFile jar, String platform) {
        Enumeration<JarEntry> entries = jar.entries();
        while (entries.hasMoreElements()) {
            JarEntry entry = entries.nextElement();
            if (entry.getName().startsWith("redis-server-") && entry.getName().endsWith(platform)) {
                return Optional.of(entry);
            }
        }
        return Optional.empty();
    }

    private static Path extract(JarFile jar, JarEntry entry) throws IOException {
        Path file = Files.createTempFile("redis-server", "");
        file.toFile().deleteOnExit();
        try (InputStream content = jar.getInputStream(entry)) {
            Files.copy(content, file, StandardCopyOption.REPLACE_EXISTING);
        }
        file.toFile().setExecutable(true);
        return file;
    }

    /** Returns the ends of names that run here, the best first. */
    private static List<String> platforms() {
        String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String arch = System.getProperty("os.arch");
        boolean arm = arch.equals("aarch64") || arch.equals("arm64");
        if (os.contains("linux")) {
            return arm ? List.of("-linux-arm64") : List.of("-linux-amd64", "-linux-386");
        }
        if (os.contains("mac")) {
            return arm ? List.of("-darwin-arm64", "-darwin-amd64") : List.of("-darwin-amd64");
        }
        return List.of();
    }

    private static Optional<Path> onPath() {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
        return Stream.of(path.split(Pattern.quote(File.pathSeparator)))
            .filter((directory) -> !directory.isEmpty())
            .map((directory) -> Path.of(directory, "redis-server"))
            .filter(Files::isExecutable)
            .findFirst();
    }

}
