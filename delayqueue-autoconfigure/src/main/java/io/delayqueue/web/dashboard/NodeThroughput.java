package io.delayqueue.web.dashboard;

import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Supplier;

import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;
import io.delayqueue.web.http.JsonViews;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * How many handlers began on this node, and how late, since it was started. The page
 * takes differences, so that nothing has to be remembered here; the node is named, as
 * behind a load balancer the next answer may be another's. Thread-safe.
 */
final class NodeThroughput {

    private final String node = UUID.randomUUID().toString();

    private final Supplier<@Nullable DelayedListenerRegistry> registry;

    NodeThroughput(Supplier<@Nullable DelayedListenerRegistry> registry) {
        this.registry = registry;
    }

    /**
     * What was counted.
     * @param queue of which queue; {@code null} for all
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
        ObjectNode json = JsonViews.object().put("node", this.node);
        ArrayNode array = json.putArray("lateness");
        counts.forEach((bound, count) -> array.addArray().add(bound).add(count));
        return json;
    }

}
