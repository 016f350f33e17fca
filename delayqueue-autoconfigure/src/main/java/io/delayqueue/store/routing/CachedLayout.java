package io.delayqueue.store.routing;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.delayqueue.store.PartitionLayout;
import org.jspecify.annotations.Nullable;

/** What this process knows of the partitions of a queue. Any thread may use it. */
final class CachedLayout {

    final AtomicReference<@Nullable Known> known = new AtomicReference<>();

    /** What another partition than the first said that it has. */
    final AtomicReference<@Nullable PartitionLayout> told = new AtomicReference<>();

    final AtomicReference<@Nullable CompletableFuture<PartitionLayout>> reading = new AtomicReference<>();

    final AtomicBoolean warned = new AtomicBoolean();

    final List<Consumer<PartitionLayout>> watchers = new CopyOnWriteArrayList<>();

    PartitionLayout latest() {
        Known known = this.known.get();
        PartitionLayout told = this.told.get();
        PartitionLayout read = (known != null) ? known.partitions() : PartitionLayout.ONE;
        return (told != null && told.version() > read.version()) ? told : read;
    }

    /**
     * What was read of a queue.
     *
     * @param answer for those who ask
     * @param partitions the same
     * @param readAt when that was
     */
    record Known(CompletableFuture<PartitionLayout> answer, PartitionLayout partitions, long readAt) {
    }

}
