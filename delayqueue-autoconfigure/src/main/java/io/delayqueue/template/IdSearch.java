package io.delayqueue.template;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.DelayQueueException;
import io.delayqueue.MessageState;
import io.delayqueue.QueueName;
import io.delayqueue.admin.DeadLetterSummary;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.IdMatch;
import io.delayqueue.admin.IdMatch.Kind;
import io.delayqueue.admin.IdSearchPage;
import io.delayqueue.store.LocatedId;
import io.delayqueue.store.Partition;
import io.delayqueue.store.QueueInspector;
import io.delayqueue.store.routing.PartitionLayouts;
import org.jspecify.annotations.Nullable;

/**
 * Searches all queues for an id, some queues at a time with concurrent calls. Blocks the
 * caller's thread. Thread-safe.
 */
final class IdSearch {

    /** Queues that are read concurrently, as other calls share the connection. */
    private static final int AT_ONCE = 100;

    private final QueueInspector inspector;

    private final PartitionLayouts layouts;

    private final BlockingStoreCalls calls;

    IdSearch(QueueInspector inspector, PartitionLayouts layouts, BlockingStoreCalls calls) {
        this.inspector = inspector;
        this.layouts = layouts;
        this.calls = calls;
    }

    /**
     * Takes one part of a search.
     * @param queues returns at most a number of names after a name
     */
    IdSearchPage search(String id, @Nullable String cursor, Names queues) {
        long begin = System.nanoTime();
        List<IdMatch> matches = new ArrayList<>();
        List<String> searched = new ArrayList<>();
        List<String> unread = new ArrayList<>();
        String after = (cursor != null) ? cursor : "";
        while (true) {
            List<String> names = queues.list(after, AT_ONCE);
            Map<String, CompletableFuture<List<IdMatch>>> answers = new LinkedHashMap<>();
            names.forEach((name) -> answers.put(name, located(new QueueName(name), id)));
            answers.forEach((name, answer) -> {
                try {
                    matches.addAll(this.calls.await(answer, "search", begin));
                    searched.add(name);
                }
                catch (DelayQueueException ex) {
                    unread.add(name);
                }
            });
            if (names.size() < AT_ONCE) {
                return new IdSearchPage(matches, searched, unread, null);
            }
            after = names.get(names.size() - 1);
            if (searched.size() + unread.size() + AT_ONCE > DelayQueueInspector.MAX_QUEUES
                    || System.nanoTime() - begin > QueueScanner.PART.toNanos()) {
                return new IdSearchPage(matches, searched, unread, after);
            }
        }
    }

    private CompletableFuture<List<IdMatch>> located(QueueName queue, String id) {
        return this.layouts.each(queue, (partition) -> walk(partition, id), LocatedId::version)
            .thenApply((found) -> found.stream().flatMap((one) -> matches(queue, one).stream()).toList());
    }

    /** Takes all steps in a partition. */
    private CompletableFuture<LocatedId> walk(Partition partition, String id) {
        return this.inspector.locate(partition, id, null).thenCompose((first) -> rest(partition, id, first));
    }

    private CompletableFuture<LocatedId> rest(Partition partition, String id, LocatedId before) {
        if (before.nextCursor() == null) {
            return CompletableFuture.completedFuture(before);
        }
        return this.inspector.locate(partition, id, before.nextCursor()).thenCompose((step) -> {
            List<DeadLetterSummary> deadLetters = new ArrayList<>(before.deadLetters());
            deadLetters.addAll(step.deadLetters());
            return rest(partition, id, new LocatedId(before.state(), before.version(), deadLetters, step.nextCursor()));
        });
    }

    private static List<IdMatch> matches(QueueName queue, LocatedId found) {
        List<IdMatch> matches = new ArrayList<>();
        if (found.state() != null) {
            matches.add(new IdMatch(queue.value(),
                    (found.state() == MessageState.LEASED) ? Kind.LEASED : Kind.SCHEDULED, null, null));
        }
        found.deadLetters()
            .stream()
            .distinct()
            .forEach((deadLetter) -> matches
                .add(new IdMatch(queue.value(), Kind.DEAD_LETTER, deadLetter.id(), deadLetter.deadLetteredAt())));
        return matches;
    }

    /** Lists the names of queues. */
    @FunctionalInterface
    interface Names {

        List<String> list(String after, int limit);

    }

}
