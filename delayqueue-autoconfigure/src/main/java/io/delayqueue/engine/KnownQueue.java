package io.delayqueue.engine;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/** What this process knows of the partitions of a queue. Any thread may use it. */
final class KnownQueue {

    final AtomicReference<@Nullable Known> known = new AtomicReference<>();

    /** What another partition than the first said that it has. */
    final AtomicReference<@Nullable Partitions> told = new AtomicReference<>();

    final AtomicReference<@Nullable CompletableFuture<Partitions>> reading = new AtomicReference<>();

    final AtomicBoolean warned = new AtomicBoolean();

    final List<Consumer<Partitions>> watchers = new CopyOnWriteArrayList<>();

    Partitions latest() {
        Known known = this.known.get();
        Partitions told = this.told.get();
        Partitions read = (known != null) ? known.partitions() : Partitions.ONE;
        return (told != null && told.version() > read.version()) ? told : read;
    }

    /**
     * What was read of a queue.
     *
     * @param answer for those who ask
     * @param partitions the same
     * @param readAt when that was
     */
    record Known(CompletableFuture<Partitions> answer, Partitions partitions, long readAt) {
    }

}
