package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * What nodes tell of themselves: of no concern to any message. A node that has not been
 * heard of for {@link #MAX_AGE} is forgotten, by the time of the store. Threads and
 * failures are as with {@link MessageStore}.
 */
public interface NodeRegistry {

    /** After that a node is taken for gone. */
    Duration MAX_AGE = Duration.ofSeconds(20);

    /** Most nodes that are told. */
    int MOST_NODES = 1_000;

    /** Of a store that keeps none. */
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

    /** Keeps what a node says, in place of what it said before. */
    CompletableFuture<Void> report(String node, byte[] report);

    /** A node is no more. */
    CompletableFuture<Void> remove(String node);

    /** The nodes that are there, at most {@link #MOST_NODES}. */
    CompletableFuture<List<Report>> list();

    /**
     * What a node said.
     *
     * @param node its name
     * @param content what it said; written by {@link NodeStatusCodec}
     * @param at when the store heard of it
     */
    record Report(String node, byte[] content, Instant at) {
    }

}
