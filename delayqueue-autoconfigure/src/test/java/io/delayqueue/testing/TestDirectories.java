package io.delayqueue.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where the fixtures keep files: below {@code target/}, wherever the JVM was started.
 * Threads: safe, it has no state.
 */
final class TestDirectories {

    private TestDirectories() {
    }

    /**
     * The module's {@code target} directory, found from the compiled test classes.
     */
    static Path target() {
        try {
            Path classes = Path.of(TestDirectories.class.getProtectionDomain().getCodeSource().getLocation().toURI());
            return classes.toAbsolutePath().getParent();
        }
        catch (URISyntaxException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /**
     * A new empty directory whose name starts with the prefix.
     */
    static Path create(String prefix) {
        try {
            return Files.createTempDirectory(Files.createDirectories(target().resolve("redis-data")), prefix + "-");
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

}
