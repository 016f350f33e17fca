package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Stores the status reports of nodes, which have no effect on messages. Removes a node
 * that has not reported for {@link #MAX_AGE}, on the store's clock. Threads and failures
 * are the same as in {@link MessageStore}.
 */
public interface NodeRegistry {

    /** Age of a report after which a node is considered gone. */
    Duration MAX_AGE = Duration.ofSeconds(20);

    /** Maximum number of nodes in a list. */
    int MAX_NODES = 1_000;

    /** Registry of a store that does not support it. */
    NodeRegistry NONE = new NodeRegistry() {

        @Override
        public CompletableFuture<Void> report(String node, byte[] report) {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletableFuture<Void> remove(String node) {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletableFuture<List<Report>> list() {
            return CompletableFuture.completedFuture(List.of());
        }

    };

    /** Stores the report of a node, replacing its previous one. */
    CompletableFuture<Void> report(String node, byte[] report);

    /** Removes a node that has stopped. */
    CompletableFuture<Void> remove(String node);

    /** Returns the reports of the active nodes, at most {@link #MAX_NODES}. */
    CompletableFuture<List<Report>> list();

    /**
     * Holds a report of a node.
     *
     * @param node its id
     * @param content the report, written by {@link NodeStatusCodec}
     * @param at when the store received it
     */
    record Report(String node, byte[] content, Instant at) {
    }

}
