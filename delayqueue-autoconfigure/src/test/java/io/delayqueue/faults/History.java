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

    /** Clients connect again, and make calls again, within so many microseconds. */
    private static final long WHILE = 5_000_000;

    private final List<Event> events;

    private final List<Span> faults;

    private final Map<String, Event> ends = new HashMap<>();

    History(List<Event> events) {
        this.events = events.stream().sorted(Comparator.comparingLong(Event::at)).toList();
        this.faults = faults(this.events);
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

    /**
     * Whether something was broken between these times, or a while before: a client may
     * have made a call again whose answer was lost.
     */
    boolean isDisturbed(long from, long until) {
        return this.faults.stream().anyMatch((fault) -> fault.broken() <= until && fault.mended() + WHILE >= from);
    }

    private static List<Span> faults(List<Event> events) {
        List<Span> spans = new ArrayList<>();
        Map<String, Long> open = new HashMap<>();
        for (Event event : events) {
            if (event.kind() == Kind.FAULT && event.is("state", "broken")) {
                open.put(event.get("text"), event.at());
            }
            else if (event.kind() == Kind.FAULT && event.is("state", "mended")) {
                Long broken = open.remove(event.get("text"));
                spans.add(new Span((broken != null) ? broken : event.at(), event.at()));
            }
        }
        open.values().forEach((broken) -> spans.add(new Span(broken, Long.MAX_VALUE - WHILE)));
        return spans;
    }

    private static String key(Event event) {
        return event.node() + '/' + event.call();
    }

    private record Span(long broken, long mended) {
    }

}
