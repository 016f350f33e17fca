package io.delayqueue.migrate.cli;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Describes what a step found and did.
 *
 * @param step the name of the step
 * @param source the name of the source
 * @param startedAt when it began
 * @param endedAt when it ended
 * @param stopped whether it was stopped early
 * @param queues the queues of the source
 * @param problems what is left to do before the migration is complete; one sentence each
 * @param notes remarks, one sentence each
 */
record MigrationReport(String step, String source, Instant startedAt, Instant endedAt, boolean stopped,
        List<QueueReport> queues, List<String> problems, List<String> notes) {

    private static final JsonMapper MAPPER = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    /** Returns whether nothing is left to do. */
    boolean done() {
        return this.problems.isEmpty() && !this.stopped;
    }

    /**
     * Checks that the report of a step can be written.
     * @throws IllegalArgumentException if it cannot
     */
    static void requireWritable(Path path, String step) {
        try {
            Path directory = path.toAbsolutePath().getParent();
            if (directory != null) {
                Files.createDirectories(directory);
            }
            for (Path file : List.of(json(path, step), text(path, step))) {
                Path written = Files.exists(file) ? file : directory;
                if (Files.isDirectory(file) || written != null && !Files.isWritable(written)) {
                    throw new AccessDeniedException(file.toString());
                }
            }
        }
        catch (IOException ex) {
            throw notWritten(path, ex);
        }
    }

    /** Writes the report as JSON and as text. */
    void writeTo(Path path) {
        try {
            Files.writeString(json(path, this.step), MAPPER.writeValueAsString(this) + "\n");
            Files.writeString(text(path, this.step), asText() + "\n");
        }
        catch (IOException ex) {
            throw notWritten(path, ex);
        }
    }

    private static Path json(Path path, String step) {
        return Path.of(path + "-" + step + ".json");
    }

    private static Path text(Path path, String step) {
        return Path.of(path + "-" + step + ".txt");
    }

    private static IllegalArgumentException notWritten(Path path, IOException failure) {
        return new IllegalArgumentException("--report=%s is not valid: the report cannot be written: %s".formatted(path,
                failure.getClass().getSimpleName()), failure);
    }

    /** Returns the report as text. */
    String asText() {
        List<String> lines = new ArrayList<>();
        Duration time = Duration.between(this.startedAt, this.endedAt);
        lines.add("delayqueue-migrate %s, source %s, %s, %.1f s%s".formatted(this.step, this.source, this.startedAt,
                time.toMillis() / 1000.0, this.stopped ? ", stopped early" : ""));
        for (QueueReport queue : this.queues) {
            lines.add("");
            lines.addAll(queue.lines());
        }
        lines.add("");
        this.problems.forEach((problem) -> lines.add("TO DO  " + problem));
        this.notes.forEach((note) -> lines.add("Note   " + note));
        lines.add(done() ? "Result: done" : "Result: not complete");
        return String.join("\n", lines);
    }

}
