package io.delayqueue.store.routing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

import io.delayqueue.QueueName;
import io.delayqueue.admin.QueueOverview;
import io.delayqueue.store.DaemonThreads;
import io.delayqueue.store.LogExecutor;
import io.delayqueue.store.NodeRegistry;
import io.delayqueue.store.NodeStatusCodec;
import io.delayqueue.store.PartitionCounts;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.QueueRegistry;
import io.delayqueue.store.RemoteConsumerQueues;
import io.delayqueue.store.SimilarNames;
import io.delayqueue.store.StoreFutures;
import io.delayqueue.store.Texts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds queues with due messages and no consumer, and logs each of them once: the name
 * may be mistyped, or the application that handles it may be gone. A queue counts as
 * consumed if a node reports a running listener for it, if one of its messages is leased,
 * or if this process has recently handed out messages of it. Consumers in other processes
 * that are not listeners are not known, so a queue is reported only after a message has
 * been due for a while.
 * <p>
 * <strong>Threads.</strong> Any; does not block.
 */
public final class UnconsumedQueueCheck {

    /** Interval between two searches. */
    static final Duration PERIOD = Duration.ofMinutes(1);

    /** How long a message must be due before its queue is reported. */
    static final Duration LATE = Duration.ofMinutes(1);

    /** How long a queue counts as consumed after a claim through this process. */
    static final Duration MEMORY = Duration.ofMinutes(10);

    /** Maximum number of log lines per search; later searches log the rest. */
    static final int MAX_LINES = 20;

    /**
     * Maximum number of queues per search, and of those that are known. The next search
     * continues with the next name.
     */
    static final int MAX_QUEUES = 1_000;

    /** Maximum number of concurrent reads, because other calls share the connection. */
    static final int MAX_READS = 20;

    private static final Logger logger = LoggerFactory.getLogger(UnconsumedQueueCheck.class);

    private final StoreComponents components;

    private final QueueInspector inspector;

    private final Directories directories;

    private final RemoteConsumerQueues consumed;

    private final LongSupplier nanoTime;

    private final AtomicLong nextSearch;

    private final LogExecutor log = new LogExecutor();

    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    /** Results of the last successful searches, by queue name. */
    private volatile Map<String, QueueOverview> known = Map.of();

    /**
     * The last name that was searched; empty if the next search begins with the first.
     */
    private volatile String searchedTo = "";

    /**
     * Creates the check without starting a search.
     * @param components the store
     * @param inspector counts the messages
     * @param directories lists queues and nodes
     * @param consumed the queues consumed through this process other than by listeners
     * @param nanoTime the monotonic clock
     */
    public UnconsumedQueueCheck(StoreComponents components, QueueInspector inspector, Directories directories,
            RemoteConsumerQueues consumed, LongSupplier nanoTime) {
        this.components = components;
        this.inspector = inspector;
        this.directories = directories;
        this.consumed = consumed;
        this.nanoTime = nanoTime;
        // Other nodes may start at the same time; their listeners must report first.
        this.nextSearch = new AtomicLong(nanoTime.getAsLong() + PERIOD.toNanos());
    }

    /**
     * Returns the results of the last searches, and starts another one if the last is too
     * old.
     */
    public Map<String, QueueOverview> known() {
        refresh();
        return this.known;
    }

    /** Starts a search if the last one is too old. */
    public void refresh() {
        long next = this.nextSearch.get();
        long now = this.nanoTime.getAsLong();
        if (now - next < 0 || !this.nextSearch.compareAndSet(next, now + PERIOD.toNanos())) {
            return;
        }
        if (this.components.messages().isBlocking()) {
            DaemonThreads.start(this::search, "delayqueue-unconsumed");
        }
        else {
            search();
        }
    }

    /**
     * Starts a search among the next queues by name.
     * @return the queues without a consumer, by name, those of earlier searches among
     * other names included; fails if the store does not answer
     */
    public CompletableFuture<Map<String, QueueOverview>> search() {
        CompletableFuture<Map<String, QueueOverview>> found;
        String after = this.searchedTo;
        try {
            found = this.directories.nodes()
                .list()
                .thenCombine(this.directories.queues().list(after, MAX_QUEUES), (reports, queues) -> {
                    Set<String> listened = listened(reports);
                    Range range = new Range(after,
                            (queues.size() < MAX_QUEUES) ? "" : queues.get(queues.size() - 1).value());
                    return find(queues.stream().filter((queue) -> !listened.contains(queue.value())).toList())
                        .thenApply((unconsumed) -> conclude(unconsumed, range, listened));
                })
                .thenCompose((unconsumed) -> unconsumed);
        }
        catch (RuntimeException ex) {
            found = CompletableFuture.failedFuture(ex);
        }
        return found.whenComplete((unconsumed, failure) -> {
            if (failure != null) {
                logger.debug("Cannot search for queues without a consumer; repeated in a minute: {}",
                        failure.toString());
            }
        });
    }

    private static Set<String> listened(List<NodeRegistry.Report> reports) {
        return reports.stream()
            .flatMap((report) -> NodeStatusCodec.read(report).stream())
            .flatMap((node) -> node.listeners().stream())
            .flatMap((listener) -> listener.queues().stream().filter(listener::consumes))
            .collect(Collectors.toSet());
    }

    private CompletableFuture<Map<String, QueueOverview>> find(List<QueueName> queues) {
        List<QueueName> suspects = queues.stream().filter((queue) -> !this.consumed.isConsumed(queue, MEMORY)).toList();
        CompletableFuture<Map<String, QueueOverview>> found = CompletableFuture.completedFuture(new TreeMap<>());
        for (int i = 0; i < suspects.size(); i += MAX_READS) {
            List<QueueName> some = suspects.subList(i, Math.min(suspects.size(), i + MAX_READS));
            found = found.thenCompose((unconsumed) -> find(some, unconsumed));
        }
        return found;
    }

    /** Adds those of the given queues that have no consumer. */
    private CompletableFuture<Map<String, QueueOverview>> find(List<QueueName> queues,
            Map<String, QueueOverview> unconsumed) {
        List<CompletableFuture<@Nullable QueueOverview>> answers = queues.stream().map(this::overviewOrNull).toList();
        return CompletableFuture.allOf(answers.toArray(CompletableFuture<?>[]::new)).thenApply((all) -> {
            answers.stream()
                .map(CompletableFuture::join)
                .filter(Objects::nonNull)
                .filter(UnconsumedQueueCheck::waits)
                .forEach((queue) -> unconsumed.put(queue.queue(), queue));
            return unconsumed;
        });
    }

    /**
     * Returns {@code null} for a queue that cannot be read, so that the others are still
     * found.
     */
    private CompletableFuture<@Nullable QueueOverview> overviewOrNull(QueueName queue) {
        return overview(queue).handle((overview, failure) -> {
            if (failure != null) {
                logger.debug("Cannot count the messages of queue '{}': {}", queue, failure.toString());
            }
            return overview;
        });
    }

    private CompletableFuture<QueueOverview> overview(QueueName queue) {
        return this.components.partitions()
            .of(queue)
            .thenCompose((known) -> StoreFutures.all(known.all(queue).stream().map(this.inspector::counts).toList()))
            .thenApply((counts) -> PartitionCounts.overview(queue, counts));
    }

    private static boolean waits(QueueOverview queue) {
        return !queue.paused() && queue.leased() == 0 && queue.oldestDue() != null
                && queue.oldestDue().compareTo(LATE) >= 0;
    }

    /** Replaces what is known of the queues that were searched, and logs new ones. */
    private synchronized Map<String, QueueOverview> conclude(Map<String, QueueOverview> found, Range range,
            Set<String> listened) {
        TreeMap<String, QueueOverview> unconsumed = new TreeMap<>(this.known);
        unconsumed.keySet()
            .removeIf((queue) -> range.contains(queue) || listened.contains(queue)
                    || this.consumed.isConsumed(new QueueName(queue), MEMORY));
        unconsumed.putAll(found);
        while (unconsumed.size() > MAX_QUEUES) {
            unconsumed.pollLastEntry();
        }
        this.known = Map.copyOf(unconsumed);
        this.searchedTo = range.last();
        this.logged.retainAll(unconsumed.keySet());
        List<QueueOverview> fresh = new ArrayList<>(unconsumed.values());
        fresh.removeIf((queue) -> this.logged.contains(queue.queue()));
        fresh.stream().limit(MAX_LINES).filter((queue) -> this.logged.add(queue.queue())).forEach((queue) -> {
            String similar = SimilarNames.among(listened, queue.queue())
                .map((name) -> ". A node listens to '%s'; was that meant?".formatted(name))
                .orElse("");
            this.log.execute(() -> logger.warn(
                    "Queue '{}' has no consumer: {} due, the oldest for {}, no node reports a running "
                            + "listener for it, and none of its messages is leased{}",
                    queue.queue(), Texts.count(queue.due(), "message"), Texts.span(oldestDue(queue)), similar));
        });
        return unconsumed;
    }

    private static Duration oldestDue(QueueOverview queue) {
        return Objects.requireNonNullElse(queue.oldestDue(), Duration.ZERO);
    }

    /**
     * Holds the names that a search has read.
     *
     * @param after the name before the first
     * @param last the last name; empty if the search has reached the end
     */
    private record Range(String after, String last) {

        boolean contains(String queue) {
            return queue.compareTo(this.after) > 0 && (this.last.isEmpty() || queue.compareTo(this.last) <= 0);
        }

    }

    /**
     * Holds the registries to search.
     *
     * @param queues the queue registry
     * @param nodes the node registry
     */
    public record Directories(QueueRegistry queues, NodeRegistry nodes) {
    }

}
