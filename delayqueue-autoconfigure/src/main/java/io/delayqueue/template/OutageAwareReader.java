package io.delayqueue.template;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.delayqueue.DelayQueueException;
import io.delayqueue.StoreRefusedException;
import io.delayqueue.StoreUnavailableException;
import io.delayqueue.store.LogExecutor;
import io.delayqueue.store.StoreFutures;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads resources of a store that may fail independently, and fails immediately for one
 * that did not answer last time. Logs each outage once. Such a resource is read in the
 * background at most once in five seconds; callers wait for it again if it was not read
 * for ten seconds.
 * <p>
 * <strong>Threads.</strong> Any. The state of a resource is one immutable value, which is
 * replaced.
 */
final class OutageAwareReader {

    private static final Logger logger = LoggerFactory.getLogger(OutageAwareReader.class);

    private static final long PAUSE = TimeUnit.SECONDS.toNanos(5);

    /** Age at which a known failure is too old to be returned. */
    private static final long STALE = TimeUnit.SECONDS.toNanos(10);

    private final LogExecutor log = new LogExecutor();

    private final LongSupplier nanoTime;

    private final Map<String, Outage> outages = new ConcurrentHashMap<>();

    OutageAwareReader(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /**
     * Reads a resource, unless it did not answer last time.
     * @param thing its description, for the log
     * @return the answer, or the current or last failure
     */
    <T> CompletableFuture<T> read(String thing, Supplier<CompletableFuture<T>> call) {
        Outage outage = this.outages.get(thing);
        if (outage == null || !(outage.failure() instanceof StoreUnavailableException)) {
            return recorded(thing, call);
        }
        long age = this.nanoTime.getAsLong() - outage.readAt();
        if (age >= STALE) {
            return recorded(thing, call);
        }
        if (age >= PAUSE && this.outages.replace(thing, outage, again(outage))) {
            CompletableFuture<T> read = recorded(thing, call);
            if (read.isDone()) {
                return read;
            }
        }
        return CompletableFuture.failedFuture(outage.failure());
    }

    private Outage again(Outage outage) {
        return new Outage(outage.failure(), this.nanoTime.getAsLong());
    }

    private <T> CompletableFuture<T> recorded(String thing, Supplier<CompletableFuture<T>> call) {
        return StoreFutures.send(call).handle((answer, failure) -> {
            DelayQueueException cause = (failure != null) ? causeOf(thing, failure) : null;
            record(thing, cause);
            if (cause != null) {
                throw cause;
            }
            return answer;
        });
    }

    /** An illegal argument can only come from stored data. */
    private static DelayQueueException causeOf(String thing, Throwable failure) {
        RuntimeException cause = BlockingStoreCalls.unwrap(failure, "read");
        return (cause instanceof DelayQueueException known) ? known : new StoreRefusedException(
                "Cannot read the stored data of %s: %s".formatted(thing, cause.getMessage()), cause);
    }

    private void record(String thing, @Nullable DelayQueueException failure) {
        if (failure == null) {
            if (!this.outages.isEmpty() && this.outages.remove(thing) != null) {
                this.log.execute(() -> logger.info("Can read {} again", thing));
            }
            return;
        }
        Outage before = this.outages.put(thing, new Outage(failure, this.nanoTime.getAsLong()));
        if (before == null) {
            this.log.execute(() -> logger.warn("Cannot read {}: {} (not logged again until it can be read)", thing,
                    failure.getMessage()));
        }
    }

    private record Outage(DelayQueueException failure, long readAt) {
    }

}
