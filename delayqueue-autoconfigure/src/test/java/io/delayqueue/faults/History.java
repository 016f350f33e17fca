package io.delayqueue.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import io.delayqueue.faults.Event.Kind;

/**
 * All that happened in a run, by time. Threads: confined to one.
 */
final class History {

    private final List<Event> events;

    private final Map<String, Event> ends = new HashMap<>();

    History(List<Event> events) {
        this.events = events.stream().sorted(Comparator.comparingLong(Event::at)).toList();
        for (Event event : this.events) {
            if (event.kind().name().endsWith("_END")) {
                this.ends.put(key(event), event);
            }
        }
    }

    /** Reads what processes have written into a directory. */
    static History read(Path directory) {
        List<Event> events = new ArrayList<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.filter((file) -> file.toString().endsWith(".history")).toList()) {
                for (String line : Files.readAllLines(file)) {
                    Event event = Event.of(line);
                    if (event != null) {
                        events.add(event);
                    }
                }
            }
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return new History(events);
    }

    List<Event> all() {
        return this.events;
    }

    List<Event> of(Kind kind) {
        return this.events.stream().filter((event) -> event.kind() == kind).toList();
    }

    /** The end of a call; empty if nobody lived to see it. */
    Optional<Event> endOf(Event begin) {
        return Optional.ofNullable(this.ends.get(key(begin)));
    }

    private static String key(Event event) {
        return event.node() + '/' + event.call();
    }

}
