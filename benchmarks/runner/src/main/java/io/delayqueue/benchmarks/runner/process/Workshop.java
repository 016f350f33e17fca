package io.delayqueue.benchmarks.runner.process;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Starts what a measurement needs.
 *
 * @param root directory of the project
 * @param scratch directory for logs
 * @param binary the Redis
 */
public record Workshop(Path root, Path scratch, RedisBinary binary) {

    /** A contender's process that is not connected yet. */
    ContenderProcess process(Variant variant, List<String> flags) {
        List<String> all = new ArrayList<>(ContenderProcess.FLAGS);
        all.addAll(flags);
        Path log = this.scratch.resolve("%s-%d.log".formatted(variant.name(), System.nanoTime()));
        return ContenderProcess.start(variant, this.root, log, all);
    }

    /** Returns the CRC of all classes and libraries of a contender. */
    public String checksum(Variant variant) {
        return Checksum.ofClassPath(Stream.of(ContenderProcess.classPath(variant, this.root).split(File.pathSeparator))
            .map(Path::of)
            .filter(Files::exists)
            .toList());
    }

    /** A new Redis, and no process yet. */
    public Stage stage(Variant variant, String... redisSettings) {
        Path directory = this.scratch.resolve("redis-" + System.nanoTime());
        return new Stage(this, variant, RedisServer.start(this.binary, directory, redisSettings));
    }

}
