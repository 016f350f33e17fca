package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.delayqueue.admin.NodeOperations;

/**
 * Stores the status reports of nodes, and beside each what operators want of the node,
 * which the node takes with its next report. Neither has an effect on messages. Removes a
 * node that has not reported for {@link #MAX_AGE}, on the store's clock, with all that is
 * stored of it. Threads and failures are the same as in {@link MessageStore}.
 */
public interface NodeRegistry {

    /** Age of a report after which a node is considered gone. */
    Duration MAX_AGE = NodeOperations.GONE_AFTER;

    /** Maximum number of nodes in a list. */
    int MAX_NODES = 1_000;

    /** Registry of a store that does not support it. */
    NodeRegistry NONE = new NodeRegistry() {

        @Override
        public CompletableFuture<NodeEntry> report(String node, byte[] report) {
            return NodeEntry.NONE;
        }

        @Override
        public CompletableFuture<Void> remove(String node) {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletableFuture<List<Report>> list() {
            return CompletableFuture.completedFuture(List.of());
        }

        @Override
        public CompletableFuture<NodeEntry> wanted(String node) {
            return NodeEntry.NONE;
        }

        @Override
        public CompletableFuture<NodeEntry> change(String node, byte[] before, byte[] wanted) {
            return NodeEntry.NONE;
        }

        @Override
        public CompletableFuture<NodeEntry> putStacks(String node, byte[] stacks) {
            return NodeEntry.NONE;
        }

        @Override
        public CompletableFuture<NodeEntry> stacks(String node) {
            return NodeEntry.NONE;
        }

    };

    /**
     * Stores the report of a node, replacing its previous one.
     * @return its wanted state
     */
    CompletableFuture<NodeEntry> report(String node, byte[] report);

    /** Removes a node that has stopped. */
    CompletableFuture<Void> remove(String node);

    /** Returns the reports of the active nodes, at most {@link #MAX_NODES}. */
    CompletableFuture<List<Report>> list();

    /** Returns the wanted state of a node. */
    CompletableFuture<NodeEntry> wanted(String node);

    /**
     * Replaces the wanted state of a node, unless another change came first or the node
     * is gone. A repeated call has the same result.
     * @param before the state to replace, empty for none
     * @param wanted the new state, empty for none
     * @return the state after the call
     */
    CompletableFuture<NodeEntry> change(String node, byte[] before, byte[] wanted);

    /**
     * Stores the stack frames of a node, replacing the previous ones.
     * @param stacks the frames, empty for none
     */
    CompletableFuture<NodeEntry> putStacks(String node, byte[] stacks);

    /** Returns the stack frames of a node. */
    CompletableFuture<NodeEntry> stacks(String node);

    /**
     * Holds what is stored of a node.
     *
     * @param alive whether the node has reported within {@link #MAX_AGE}; else it has no
     * entry
     * @param now the time of the store
     * @param content the entry, empty for none
     */
    record NodeEntry(boolean alive, Instant now, byte[] content) {

        private static final CompletableFuture<NodeEntry> NONE = CompletableFuture
            .completedFuture(new NodeEntry(false, Instant.EPOCH, new byte[0]));

    }

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
