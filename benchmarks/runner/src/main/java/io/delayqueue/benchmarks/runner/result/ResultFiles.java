package io.delayqueue.benchmarks.runner.result;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** One JSON file for each measure, in a directory. */
public final class ResultFiles {

    private final JsonMapper mapper = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    private final Path directory;

    public ResultFiles(Path directory) {
        this.directory = directory;
    }

    public Path write(Result result) {
        try {
            Files.createDirectories(this.directory);
            Path file = file(result.measure());
            Files.writeString(file, this.mapper.writeValueAsString(result) + "\n");
            return file;
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** The result of that measure, if it was kept. */
    public Optional<Result> read(String measure) {
        try {
            return Files.exists(file(measure))
                    ? Optional.of(this.mapper.readValue(Files.readString(file(measure)), Result.class))
                    : Optional.empty();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private Path file(String measure) {
        return this.directory.resolve(measure + ".json");
    }

}
