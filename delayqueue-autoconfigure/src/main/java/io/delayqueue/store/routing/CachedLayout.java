package io.delayqueue.store.routing;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.delayqueue.store.PartitionLayout;
import org.jspecify.annotations.Nullable;

/**
 * Caches the layout of a queue.
 * <p>
 * <strong>Threads.</strong> Any.
 */
final class CachedLayout {

    final AtomicReference<@Nullable Known> known = new AtomicReference<>();

    /** The latest layout reported by a partition other than the first one. */
    final AtomicReference<@Nullable PartitionLayout> reported = new AtomicReference<>();

    final AtomicReference<@Nullable CompletableFuture<PartitionLayout>> reading = new AtomicReference<>();

    final AtomicBoolean warned = new AtomicBoolean();

    final List<Consumer<PartitionLayout>> watchers = new CopyOnWriteArrayList<>();

    PartitionLayout latest() {
        Known known = this.known.get();
        PartitionLayout reported = this.reported.get();
        PartitionLayout read = (known != null) ? known.partitions() : PartitionLayout.ONE;
        return (reported != null && reported.version() > read.version()) ? reported : read;
    }

    /**
     * Holds a layout that was read.
     *
     * @param answer the layout as a completed future
     * @param partitions the layout
     * @param readAt when it was read
     */
    record Known(CompletableFuture<PartitionLayout> answer, PartitionLayout partitions, long readAt) {
    }

}
