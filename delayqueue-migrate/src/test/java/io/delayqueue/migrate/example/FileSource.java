package io.delayqueue.migrate.example;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.EntryOutcome;
import io.delayqueue.migrate.SourceEntry;
import io.delayqueue.migrate.SourceInUseException;
import io.delayqueue.migrate.SourceOptions;
import io.delayqueue.migrate.SourceStatus;

/**
 * Moves the files of a spool directory, which a script handles when they are due. Each
 * directory below {@code --source-option=directory=...} is a queue, and a waiting message
 * is a file {@code <due time in ms>-<id>.json} in it. The script renames a file before it
 * handles it; so does this source, and one of both succeeds.
 */
public class FileSource implements MigrationSource {

    private static final List<String> STATES = List.of("pending", "unreadable", "sent", "dropped");

    private final Map<String, FileChannel> locks = new TreeMap<>();

    private Path root = Path.of("");

    @Override
    public void open(SourceOptions options) {
        this.root = Path.of(options.required("directory"));
        if (!Files.isDirectory(this.root)) {
            throw new IllegalArgumentException(
                    "--source-option=directory=%s is not valid: use a directory".formatted(this.root));
        }
    }

    @Override
    public List<String> queues() {
        return names(this.root, Integer.MAX_VALUE);
    }

    @Override
    public SourceStatus status(String queue) {
        List<String> waiting = waiting(queue, Integer.MAX_VALUE);
        Map<String, Long> counts = new TreeMap<>();
        long taken = 0;
        for (String state : STATES) {
            long number = names(directory(queue, state), Integer.MAX_VALUE).size();
            counts.put(state, number);
            taken += number;
        }
        return new SourceStatus(waiting.size(), waiting.isEmpty() ? null : due(waiting.get(0)),
                waiting.isEmpty() ? null : due(waiting.get(waiting.size() - 1)), taken, counts.get("pending"),
                counts.get("sent"), counts.get("dropped"), counts.get("unreadable"), Map.of(), Map.of());
    }

    @Override
    public List<SourceEntry> peek(String queue, long offset, int limit) {
        return waiting(queue, Integer.MAX_VALUE).stream()
            .skip(offset)
            .limit(limit)
            .map((name) -> entry("x", this.root.resolve(queue).resolve(name), name))
            .toList();
    }

    @Override
    public void own(String queue) {
        if (this.locks.containsKey(queue)) {
            return;
        }
        try {
            Path file = directory(queue, "pending").resolveSibling("lock");
            FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            FileLock lock = channel.tryLock();
            if (lock == null) {
                channel.close();
                throw new SourceInUseException(queue);
            }
            this.locks.put(queue, channel);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public List<SourceEntry> take(String queue, String batch, int limit) {
        Path pending = directory(queue, "pending");
        List<SourceEntry> before = entries(pending,
                names(pending, Integer.MAX_VALUE).stream().filter((name) -> name.startsWith(batch + "-")).toList());
        if (!before.isEmpty()) {
            return before;
        }
        List<String> taken = new ArrayList<>();
        for (String name : waiting(queue, limit)) {
            String target = "%s-%d.%s".formatted(batch, taken.size() + 1, name);
            if (move(this.root.resolve(queue).resolve(name), pending.resolve(target))) {
                taken.add(target);
            }
        }
        return entries(pending, taken);
    }

    @Override
    public List<SourceEntry> unsettled(String queue, int limit) {
        Path pending = directory(queue, "pending");
        return entries(pending, names(pending, limit));
    }

    @Override
    public void reopen(String queue, BooleanSupplier stopped) {
        Path unreadable = directory(queue, "unreadable");
        for (String name : names(unreadable, Integer.MAX_VALUE)) {
            move(unreadable.resolve(name), directory(queue, "pending").resolve(name));
        }
    }

    @Override
    public void settle(String queue, List<EntryOutcome> outcomes) {
        Path pending = directory(queue, "pending");
        Map<String, String> files = new TreeMap<>();
        names(pending, Integer.MAX_VALUE).forEach((name) -> files.put(id(name), name));
        for (EntryOutcome outcome : outcomes) {
            String name = files.get(outcome.id());
            if (name != null) {
                String state = switch (outcome.outcome()) {
                    case SENT -> "sent";
                    case DROPPED -> "dropped";
                    case UNREADABLE -> "unreadable";
                };
                move(pending.resolve(name), directory(queue, state).resolve(name));
            }
        }
    }

    @Override
    public void count(String queue, String name, long number) {
        // Such as repeated entries, which this source does not record.
    }

    @Override
    public void finish(String queue, BooleanSupplier stopped) {
        for (String state : STATES) {
            for (String name : names(directory(queue, state), Integer.MAX_VALUE)) {
                delete(directory(queue, state).resolve(name));
            }
        }
    }

    @Override
    public void close() {
        this.locks.values().forEach((channel) -> {
            try {
                channel.close();
            }
            catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        });
    }

    private Path directory(String queue, String state) {
        try {
            return Files.createDirectories(this.root.resolve(queue).resolve(".migrate").resolve(state));
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private List<String> waiting(String queue, int limit) {
        return names(this.root.resolve(queue), Integer.MAX_VALUE).stream()
            .filter((name) -> name.matches("\\d+-.*\\.json"))
            .limit(limit)
            .toList();
    }

    private static List<String> names(Path directory, int limit) {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map((file) -> file.getFileName().toString()).sorted().limit(limit).toList();
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static List<SourceEntry> entries(Path directory, List<String> names) {
        return names.stream()
            .map((name) -> entry(id(name), directory.resolve(name), name.substring(name.indexOf('.') + 1)))
            .toList();
    }

    /** Returns the id of a taken file, which is the part before the first dot. */
    private static String id(String name) {
        return name.substring(0, name.indexOf('.'));
    }

    private static SourceEntry entry(String id, Path file, String name) {
        String businessId = name.substring(name.indexOf('-') + 1, name.length() - ".json".length());
        return SourceEntry.of(id, due(name), read(file)).with(businessId, Map.of());
    }

    private static Instant due(String name) {
        return Instant.ofEpochMilli(Long.parseLong(name.substring(0, name.indexOf('-'))));
    }

    private static byte[] read(Path file) {
        try {
            return Files.readAllBytes(file);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Renames a file in one step; {@code false} if another has done so before. */
    private static boolean move(Path from, Path to) {
        try {
            Files.move(from, to);
            return true;
        }
        catch (NoSuchFileException ex) {
            return false;
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

}
