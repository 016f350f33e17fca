package io.delayqueue.template;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Function;

import io.delayqueue.DelayQueueException;
import io.delayqueue.MessageLimits;
import io.delayqueue.QueueName;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.admin.DeadLetterCauses;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.DueForecast;
import io.delayqueue.admin.DueHistogram;
import io.delayqueue.admin.IdSearchPage;
import io.delayqueue.admin.MessagePage;
import io.delayqueue.admin.MessageScanPage;
import io.delayqueue.admin.MessageSelection;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.QueueActivity;
import io.delayqueue.admin.QueueActivity.Lateness;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.admin.QueueOverviews;
import io.delayqueue.admin.QueuePage;
import io.delayqueue.admin.RetryingCount;
import io.delayqueue.admin.ScanSelection;
import io.delayqueue.store.ActivityStore;
import io.delayqueue.store.LatenessClasses;
import io.delayqueue.store.ListedMessage;
import io.delayqueue.store.MessageCursor;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.NodeStatusCodec;
import io.delayqueue.store.Partition;
import io.delayqueue.store.PartitionCounts;
import io.delayqueue.store.PartitionLayout;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.QueueRegistry;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.routing.PartitionLayouts;
import io.delayqueue.store.schedule.ScheduleStore;
import org.jspecify.annotations.Nullable;

/**
 * Lists and counts queues and their messages in all partitions, and removes unused queues
 * from the list. Queries partitions and queues concurrently; blocks the caller's thread.
 * Thread-safe.
 */
public final class InspectorTemplate implements DelayQueueInspector {

    /** Maximum number of names to remember for a failure of the registry. */
    private static final int MAX_KNOWN = 10_000;

    private final QueueInspector inspector;

    private final QueueRegistry registry;

    private final NodeRegistry nodes;

    private final PartitionLayouts layouts;

    private final ScheduleStore schedules;

    private final ActivityStore activity;

    private final BlockingStoreCalls calls;

    private final QueueScanner scanner;

    private final IdSearch search;

    private final Duration waitLimit;

    private final OutageAwareReader reading = new OutageAwareReader(System::nanoTime);

    /** The names listed last, used while the registry cannot be read. */
    private final NavigableSet<String> listed = new ConcurrentSkipListSet<>();

    /**
     * Creates an inspector.
     * @param stores hold what it reads
     * @param layouts caches the layouts of queues
     * @param waitLimit longest time to wait for the answers of one call
     */
    public InspectorTemplate(Stores stores, PartitionLayouts layouts, Duration waitLimit) {
        this.inspector = stores.inspector();
        this.registry = stores.queues();
        this.nodes = stores.nodes();
        this.schedules = stores.schedules();
        this.activity = stores.activity();
        this.layouts = layouts;
        this.calls = new BlockingStoreCalls(waitLimit);
        this.scanner = new QueueScanner(this.inspector, this.calls);
        this.search = new IdSearch(this.inspector, layouts, this.calls);
        this.waitLimit = waitLimit;
    }

    @Override
    public QueuePage queues(@Nullable String cursor, int limit) {
        requireLimit(limit, MAX_QUEUES);
        String after = (cursor != null) ? new QueueName(cursor).value() : "";
        List<String> names = names(after, limit + 1);
        return (names.size() <= limit) ? new QueuePage(names, null)
                : new QueuePage(names.subList(0, limit), names.get(limit - 1));
    }

    /**
     * Returns the names from the registry, or those listed before if it cannot be read.
     */
    private List<String> names(String after, int limit) {
        try {
            List<String> names = this.calls
                .await(this.reading.read("the list of queues", () -> this.registry.list(after, limit)), "queues")
                .stream()
                .map(QueueName::value)
                .toList();
            remember(after, names, names.size() < limit);
            return names;
        }
        catch (DelayQueueException ex) {
            List<String> known = this.listed.tailSet(after, false).stream().limit(limit).toList();
            if (known.isEmpty()) {
                throw ex;
            }
            return known;
        }
    }

    private void remember(String after, List<String> names, boolean last) {
        NavigableSet<String> before = last ? this.listed.tailSet(after, false)
                : this.listed.subSet(after, false, names.get(names.size() - 1), true);
        before.retainAll(Set.copyOf(names));
        if (this.listed.size() < MAX_KNOWN) {
            this.listed.addAll(names);
        }
    }

    private static void requireLimit(int limit, int most) {
        if (limit < 1 || limit > most) {
            throw new IllegalArgumentException("Limit %d is not valid: use 1 to %d".formatted(limit, most));
        }
    }

    @Override
    public boolean forget(String queue) {
        if (!isUnused(queue) || isListenedTo(queue)) {
            return false;
        }
        QueueName name = new QueueName(queue);
        boolean removed = this.calls.await(this.registry.remove(name), "forget");
        if (removed && !isUnused(queue)) {
            this.calls.await(this.registry.add(name), "forget");
            return false;
        }
        return removed;
    }

    private boolean isUnused(String queue) {
        QueueOverview overview = overview(queue);
        return overview.scheduled() + overview.leased() + overview.dead() == 0 && !overview.paused()
                && !hasSchedules(queue);
    }

    private boolean hasSchedules(String queue) {
        return !this.calls.await(this.schedules.list(new QueueName(queue), null, 1), "forget").schedules().isEmpty();
    }

    private boolean isListenedTo(String queue) {
        return nodes().stream()
            .flatMap((node) -> node.listeners().stream())
            .anyMatch((listener) -> listener.queues().contains(queue));
    }

    @Override
    public List<NodeStatus> nodes() {
        return this.calls.await(this.reading.read("the nodes", this.nodes::list), "nodes")
            .stream()
            .flatMap((report) -> NodeStatusCodec.read(report).stream())
            .toList();
    }

    @Override
    public QueueOverview overview(String queue) {
        return this.calls.await(counted(new QueueName(queue)), "overview");
    }

    @Override
    public QueueOverviews overviews(Collection<String> queues) {
        long begin = System.nanoTime();
        Map<String, CompletableFuture<QueueOverview>> answers = new LinkedHashMap<>();
        for (String queue : queues) {
            QueueName name = new QueueName(queue);
            // With a blocking client, each call returns only when it is answered.
            answers.computeIfAbsent(queue, (key) -> (System.nanoTime() - begin > this.waitLimit.toNanos())
                    ? new CompletableFuture<>() : this.reading.read("queue '%s'".formatted(key), () -> counted(name)));
        }
        List<QueueOverview> overviews = new ArrayList<>();
        Map<String, DelayQueueException> failures = new LinkedHashMap<>();
        answers.forEach((queue, answer) -> {
            try {
                overviews.add(this.calls.await(answer, "overviews", begin));
            }
            catch (DelayQueueException ex) {
                failures.put(queue, ex);
            }
        });
        if (overviews.isEmpty()) {
            failures.values()
                .stream()
                .filter(StoreUnavailableException.class::isInstance)
                .findFirst()
                .ifPresent((ex) -> {
                    throw ex;
                });
        }
        return new QueueOverviews(overviews, failures);
    }

    private CompletableFuture<QueueOverview> counted(QueueName queue) {
        return this.layouts.each(queue, this.inspector::counts, PartitionCounts::version)
            .thenApply((counts) -> PartitionCounts.overview(queue, counts));
    }

    @Override
    public DueHistogram dueHistogram(String queue) {
        QueueName name = new QueueName(queue);
        // The bins begin on the clock of the store; later steps may see a later minute.
        Instant now = this.calls.await(this.inspector.dueCounts(Partition.first(name), List.of()), "dueHistogram")
            .now();
        DueBins bins = DueBins.from(now);
        return this.calls.await(partitions(name)
            .thenCompose(
                    (partitions) -> each(partitions, (partition) -> this.inspector.dueCounts(partition, bins.ends())))
            .thenApply((parts) -> bins.histogram(name, parts)), "dueHistogram");
    }

    @Override
    public QueueActivity activity() {
        return this.calls.await(this.reading.read("the activity", () -> this.activity.read(null)), "activity");
    }

    @Override
    public QueueActivity activity(String queue) {
        return this.calls.await(this.activity.read(new QueueName(queue).value()), "activity");
    }

    @Override
    public Map<String, Lateness> lateness() {
        Map<String, Lateness> found = new HashMap<>();
        this.calls.await(this.reading.read("the activity", this.activity::lateness), "lateness")
            .forEach((queue, counts) -> {
                Lateness lateness = LatenessClasses.lateness(counts);
                if (lateness != null) {
                    found.put(queue, lateness);
                }
            });
        return found;
    }

    @Override
    public MessageScanPage scan(String queue, ScanSelection selection, String idPrefix, @Nullable String cursor) {
        return this.scanner.scan(this.calls.await(partitions(new QueueName(queue)), "scan"), selection, idPrefix,
                cursor);
    }

    @Override
    public RetryingCount retrying(String queue) {
        QueueName name = new QueueName(queue);
        return this.scanner.retrying(name, this.calls.await(this.layouts.of(name), "retrying").all(name));
    }

    @Override
    public IdSearchPage search(String id, @Nullable String cursor) {
        MessageLimits.requireId(id);
        String after = (cursor != null) ? new QueueName(cursor).value() : null;
        return this.search.search(id, after, this::names);
    }

    @Override
    public DeadLetterCauses deadLetterCauses(String queue, boolean byType) {
        QueueName name = new QueueName(queue);
        return this.scanner.causes(name, this.calls.await(partitions(name), "deadLetterCauses"), byType);
    }

    @Override
    public DueForecast dueForecast(String queue) {
        return this.calls.await(partitions(new QueueName(queue))
            .thenCompose((partitions) -> each(partitions, this.inspector::dueForecast))
            .thenApply((parts) -> parts.stream().reduce(InspectorTemplate::sum).orElseThrow()), "due forecast");
    }

    private static DueForecast sum(DueForecast one, DueForecast other) {
        return new DueForecast(one.queue(), one.overdue() + other.overdue(), one.minute() + other.minute(),
                one.hour() + other.hour(), one.day() + other.day(), one.week() + other.week(),
                one.later() + other.later(), one.waitingInGroup() + other.waitingInGroup());
    }

    @Override
    public MessagePage messages(String queue, MessageSelection listing, @Nullable String cursor, int limit) {
        requireLimit(limit, MAX_MESSAGES);
        MessageCursor after = (cursor != null) ? MessageCursor.parse(cursor, listing) : null;
        return this.calls.await(partitions(new QueueName(queue))
            .thenCompose((partitions) -> each(partitions,
                    (partition) -> this.inspector.messages(partition, listing, after, limit + 1)))
            .thenApply((parts) -> ListedMessage.page(listing, parts, limit)), "messages");
    }

    private CompletableFuture<List<Partition>> partitions(QueueName queue) {
        CompletableFuture<PartitionLayout> recorded = this.layouts.read(queue);
        return recorded.thenApply((partitions) -> partitions.all(queue));
    }

    private static <A, B> CompletableFuture<List<B>> each(List<A> values, Function<A, CompletableFuture<B>> call) {
        return StoreFutures.all(values.stream().map(call).toList());
    }

    /**
     * Bundles the parts of the store that an inspector reads.
     *
     * @param inspector reads partitions
     * @param queues the queue registry
     * @param nodes the node registry
     * @param activity the activity of queues
     * @param schedules reads whether a queue has schedules
     */
    public record Stores(QueueInspector inspector, QueueRegistry queues, NodeRegistry nodes, ActivityStore activity,
            ScheduleStore schedules) {
    }

}
