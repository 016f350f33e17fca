package io.delayqueue.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Assumptions;

/**
 * The clock of a server, which a test sets while it runs; that of this machine, and the
 * server's monotonic one, stay. Needs libfaketime, and a server that is linked
 * dynamically. Threads: any one at a time.
 */
public final class SteppedClock {

    private static final List<Path> LIBRARIES = Stream
        .of("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
        .map((directory) -> Path.of(directory, "faketime", "libfaketime.so.1"))
        .toList();

    private final Path library;

    private final Path file;

    private Duration offset = Duration.ZERO;

    /**
     * A clock that is right. Skips the test, with the reason, where there is no
     * libfaketime.
     */
    public SteppedClock() {
        this.library = LIBRARIES.stream()
            .filter(Files::exists)
            .findFirst()
            .orElseGet(() -> Assumptions.abort("libfaketime is not installed (package 'faketime')"));
        this.file = TestDirectories.create("clock").resolve("offset");
        write();
    }

    /** Sets it forward, or back by a negative amount; at once. */
    public void step(Duration by) {
        this.offset = this.offset.plus(by);
        write();
    }

    /** Replaced and not written over: it is read at any time. */
    private void write() {
        try {
            Path fresh = this.file.resolveSibling("fresh");
            Files.writeString(fresh, "%+d%n".formatted(this.offset.toSeconds()));
            Files.move(fresh, this.file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** A command that is the executable, under this clock. */
    Path shownTo(Path executable) {
        try {
            Path command = this.file.resolveSibling("redis-server");
            Files.writeString(command, """
                    #!/bin/sh
                    export LD_PRELOAD=%s FAKETIME_TIMESTAMP_FILE=%s FAKETIME_NO_CACHE=1
                    export FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_FORCE_MONOTONIC_FIX=0
                    exec %s "$@"
                    """.formatted(this.library, this.file.toAbsolutePath(), executable.toAbsolutePath()));
            Files.setPosixFilePermissions(command, PosixFilePermissions.fromString("rwxr-xr-x"));
            return command.toAbsolutePath();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

}
