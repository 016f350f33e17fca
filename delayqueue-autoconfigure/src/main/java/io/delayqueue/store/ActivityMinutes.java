package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.delayqueue.admin.QueueActivity;
import io.delayqueue.admin.QueueActivity.Backlog;
import io.delayqueue.admin.QueueActivity.Minute;
import org.jspecify.annotations.Nullable;

/**
 * Collects the minutes that were recorded, and adds those in between that were not. For
 * one thread.
 */
public final class ActivityMinutes {

    private final Map<Instant, Minute> recorded = new HashMap<>();

    /** Creates a collection without minutes. */
    public ActivityMinutes() {
    }

    /** Adds a minute that was recorded. */
    public void add(Minute minute) {
        this.recorded.put(minute.from(), minute);
    }

    /** Returns the activity of all queues together. */
    public QueueActivity all(Instant now, List<String> queues) {
        return new QueueActivity(null, now, until(now), true, queues);
    }

    /**
     * Returns the activity of a queue.
     * @param recorded whether it has a place
     */
    public QueueActivity of(String queue, boolean recorded, Instant now) {
        return new QueueActivity(queue, now, until(now), recorded, recorded ? List.of(queue) : List.of());
    }

    private List<Minute> until(Instant now) {
        Instant last = now.truncatedTo(ChronoUnit.MINUTES);
        return IntStream.rangeClosed(1 - QueueActivity.MINUTES, 0).mapToObj((age) -> {
            Instant from = last.plus(Duration.ofMinutes(age));
            return this.recorded.getOrDefault(from, unknown(from));
        }).toList();
    }

    private static Minute unknown(Instant from) {
        return new Minute(from, false, false, 0, 0, null, null);
    }

    /**
     * Creates a minute from its counts.
     * @param reported whether a node has reported in it
     * @param unanswered whether a node had no answer in it
     * @param counts as in a report
     */
    public static Minute minute(Instant from, boolean reported, boolean unanswered, long[] counts,
            @Nullable Backlog backlog) {
        return new Minute(from, reported, unanswered, LatenessClasses.total(counts), counts[ActivityReport.FAILED],
                LatenessClasses.lateness(counts), backlog);
    }

    /** Adds up what queues hold. */
    public static Backlog sum(Collection<Backlog> backlogs) {
        return new Backlog(backlogs.stream().mapToLong(Backlog::due).sum(),
                backlogs.stream().mapToLong(Backlog::leased).sum(),
                backlogs.stream().mapToLong(Backlog::scheduled).sum(),
                backlogs.stream().mapToLong(Backlog::dead).sum());
    }

}
