package io.delayqueue.benchmarks.runner.process;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** A comparison is worth nothing if both sides run on the same library. */
@Tag("server")
class ContenderProcessTests {

    @Test
    void takesTheLibraryAndNothingElseFromElsewhere(@TempDir Path root) throws IOException {
        Path target = Files.createDirectories(root.resolve("benchmarks/delayqueue/target"));
        Path here = root.resolve("delayqueue-autoconfigure/target/classes");
        Path starter = root.resolve("delayqueue-starter/target/delayqueue-starter.jar");
        Path contender = root.resolve("benchmarks/contender/target/classes");
        Files.writeString(target.resolve("class-path"), path(contender, starter, here, Path.of("/lettuce.jar")));

        assertThat(ContenderProcess.classPath(Variant.OURS, root))
            .isEqualTo(path(target.resolve("classes"), contender, starter, here, Path.of("/lettuce.jar")));
        Path base = Path.of("/base");
        assertThat(ContenderProcess.classPath(Variant.OURS.on(base), root))
            .isEqualTo(path(target.resolve("classes"), contender, base.resolve("delayqueue-starter/target/classes"),
                    base.resolve("delayqueue-autoconfigure/target/classes"), Path.of("/lettuce.jar")));
    }

    private static String path(Path... elements) {
        StringBuilder path = new StringBuilder();
        for (Path element : elements) {
            path.append(path.isEmpty() ? "" : File.pathSeparator).append(element);
        }
        return path.toString();
    }

}
