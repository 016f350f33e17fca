package io.delayqueue.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

import io.delayqueue.admin.QueueActivity;
import io.delayqueue.admin.QueueActivity.Backlog;
import io.delayqueue.store.ActivityMinutes;
import io.delayqueue.store.ActivityReport;
import io.delayqueue.store.ActivityStore;
import org.jspecify.annotations.Nullable;

/** Holds the activity of queues in this process. Thread-safe. */
final class MemoryActivityStore implements ActivityStore {

    private static final Duration UNUSED = Duration.ofHours(6);

    private static final Duration ASK_AGAIN = Duration.ofSeconds(20);

    /** The recorded cells by minute, then by queue; the empty name is that of all. */
    private final NavigableMap<Instant, Map<String, Cell>> minutes = new TreeMap<>();

    private final Map<String, Place> places = new HashMap<>();

    private final Map<String, Long> numbers = new HashMap<>();

    private final LongSupplier epochMicros;

    private Instant asked = Instant.EPOCH;

    MemoryActivityStore(LongSupplier epochMicros) {
        this.epochMicros = epochMicros;
    }

    private Instant now() {
        return Instant.ofEpochMilli(Micros.floorToMillis(this.epochMicros.getAsLong()));
    }

    @Override
    public synchronized CompletableFuture<Reply> report(ActivityReport report) {
        Instant now = now();
        Instant minute = now.truncatedTo(ChronoUnit.MINUTES);
        this.minutes.tailMap(minute, false).clear(); // after a step of the clock backward
        while (this.minutes.size() > QueueActivity.MINUTES) {
            this.minutes.pollFirstEntry();
        }
        this.places.values().removeIf((place) -> place.reported.isBefore(minute.minus(UNUSED)));
        List<String> leftOut = new ArrayList<>();
        report.counts().keySet().stream().filter((queue) -> !queue.isEmpty()).forEach((queue) -> {
            if (!hasPlace(queue, minute)) {
                leftOut.add(queue);
            }
        });
        if (report.number() > this.numbers.getOrDefault(report.node(), 0L)) {
            this.numbers.put(report.node(), report.number());
            cell(minute, ActivityReport.OTHERS).reported = true;
            report.counts().forEach((queue, counts) -> {
                cell(minute, ActivityReport.OTHERS).add(counts);
                if (this.places.containsKey(queue)) {
                    cell(minute, queue).add(counts);
                }
            });
        }
        if (report.followsAnOutage()) {
            Instant since = now.minus(report.unanswered()).truncatedTo(ChronoUnit.MINUTES);
            for (Instant at = minute; !at.isBefore(since) && at.isAfter(
                    minute.minus(Duration.ofMinutes(QueueActivity.MINUTES))); at = at.minus(Duration.ofMinutes(1))) {
                cell(at, ActivityReport.OTHERS).unanswered = true;
            }
        }
        return CompletableFuture.completedFuture(new Reply(leftOut, now, toCount(now, minute)));
    }

    private boolean hasPlace(String queue, Instant minute) {
        Place place = this.places.get(queue);
        if (place == null && this.places.size() >= QueueActivity.MAX_QUEUES) {
            return false;
        }
        this.places.put(queue,
                new Place((place != null && place.since.isBefore(minute)) ? place.since : minute, minute));
        return true;
    }

    private List<String> toCount(Instant now, Instant minute) {
        if (cell(minute, ActivityReport.OTHERS).backlog != null || this.asked.plus(ASK_AGAIN).isAfter(now)) {
            return List.of();
        }
        this.asked = now;
        return List.copyOf(this.places.keySet());
    }

    private Cell cell(Instant minute, String queue) {
        return this.minutes.computeIfAbsent(minute, (begin) -> new HashMap<>())
            .computeIfAbsent(queue, (name) -> new Cell());
    }

    @Override
    public synchronized CompletableFuture<Void> record(Instant minute, Map<String, Backlog> backlogs,
            boolean complete) {
        Instant begin = minute.truncatedTo(ChronoUnit.MINUTES);
        Duration age = Duration.between(begin, now().truncatedTo(ChronoUnit.MINUTES));
        if (age.abs().compareTo(Duration.ofMinutes(1)) <= 0) {
            backlogs.forEach((queue, backlog) -> {
                if (this.places.containsKey(queue)) {
                    cell(begin, queue).backlog = backlog;
                }
            });
            if (complete) {
                cell(begin, ActivityReport.OTHERS).backlog = ActivityMinutes.sum(backlogs.values());
            }
        }
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public synchronized CompletableFuture<QueueActivity> read(@Nullable String queue) {
        Place place = (queue != null) ? this.places.get(queue) : new Place(Instant.EPOCH, Instant.EPOCH);
        ActivityMinutes read = new ActivityMinutes();
        this.minutes.forEach((minute, cells) -> {
            Cell total = cells.getOrDefault(ActivityReport.OTHERS, new Cell());
            boolean known = place != null && !minute.isBefore(place.since);
            Cell cell = known ? cells.getOrDefault((queue != null) ? queue : ActivityReport.OTHERS, new Cell())
                    : new Cell();
            read.add(ActivityMinutes.minute(minute, known && total.reported, total.unanswered, cell.counts,
                    cell.backlog));
        });
        return CompletableFuture.completedFuture((queue != null) ? read.of(queue, place != null, now())
                : read.all(now(), List.copyOf(new TreeSet<>(this.places.keySet()))));
    }

    @Override
    public synchronized CompletableFuture<Map<String, long[]>> lateness() {
        Instant since = now().truncatedTo(ChronoUnit.MINUTES).minus(Duration.ofMinutes(1));
        Map<String, long[]> counts = new HashMap<>();
        this.places.keySet().forEach((queue) -> {
            Cell sum = new Cell();
            this.minutes.tailMap(since).values().forEach((cells) -> {
                Cell cell = cells.get(queue);
                if (cell != null) {
                    sum.add(cell.counts);
                }
            });
            counts.put(queue, sum.counts);
        });
        return CompletableFuture.completedFuture(counts);
    }

    synchronized void clear() {
        this.minutes.clear();
        this.places.clear();
        this.numbers.clear();
        this.asked = Instant.EPOCH;
    }

    /** Holds what is known of a minute of a queue. Guarded by the store. */
    private static final class Cell {

        private final long[] counts = new long[ActivityReport.FIELDS];

        private boolean reported;

        private boolean unanswered;

        private @Nullable Backlog backlog;

        void add(long[] more) {
            Arrays.setAll(this.counts, (field) -> this.counts[field] + more[field]);
        }

    }

    /**
     * Holds since when a queue has a place, and the minute of its last report.
     */
    private record Place(Instant since, Instant reported) {
    }

}
