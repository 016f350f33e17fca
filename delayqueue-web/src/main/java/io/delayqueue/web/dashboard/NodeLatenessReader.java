package io.delayqueue.web.dashboard;

import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Supplier;

import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;
import io.delayqueue.web.http.ApiViews;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads from the listeners how many handlers this node has started since its start, by
 * queue and lateness. The page computes differences, so nothing is remembered here. The
 * node has an id, because behind a load balancer another one may answer next.
 * Thread-safe.
 */
final class NodeLatenessReader {

    private final String node = UUID.randomUUID().toString();

    private final Supplier<@Nullable DelayedListenerRegistry> registry;

    NodeLatenessReader(Supplier<@Nullable DelayedListenerRegistry> registry) {
        this.registry = registry;
    }

    /** Returns the counts of all listeners of this node, by queue. */
    Map<String, SortedMap<Long, Long>> byQueue() {
        Map<String, SortedMap<Long, Long>> all = new HashMap<>();
        DelayedListenerRegistry known = this.registry.get();
        if (known != null) {
            known.listeners().forEach((listener) -> listener.lateness().forEach((queue, counts) -> {
                SortedMap<Long, Long> sum = all.computeIfAbsent(queue, (name) -> new TreeMap<>());
                counts.forEach((bound, count) -> sum.merge(bound, count, Long::sum));
            }));
        }
        return all;
    }

    /**
     * Returns the counts.
     * @param queue the queue; {@code null} for all
     * @return {@code null} if this node does not listen to it
     */
    @Nullable ObjectNode toJson(@Nullable String queue) {
        DelayedListenerRegistry known = this.registry.get();
        SortedMap<Long, Long> counts = new TreeMap<>();
        boolean listens = false;
        if (known != null) {
            for (ListenerContainer listener : known.listeners()) {
                if (queue == null || listener.queues().contains(queue)) {
                    listens = true;
                    listener.lateness().forEach((name, some) -> {
                        if (queue == null || queue.equals(name)) {
                            some.forEach((bound, count) -> counts.merge(bound, count, Long::sum));
                        }
                    });
                }
            }
        }
        if (!listens) {
            return null;
        }
        ObjectNode json = ApiViews.object().put("node", this.node);
        ArrayNode array = json.putArray("lateness");
        counts.forEach((bound, count) -> array.addArray().add(bound).add(count));
        return json;
    }

}
