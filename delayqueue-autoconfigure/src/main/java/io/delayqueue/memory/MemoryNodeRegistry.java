package io.delayqueue.memory;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

import io.delayqueue.store.NodeRegistry;

/** Holds the reports of the nodes of this process. Thread-safe. */
final class MemoryNodeRegistry implements NodeRegistry {

    private final Map<String, Report> reports = new ConcurrentHashMap<>();

    private final LongSupplier epochMicros;

    MemoryNodeRegistry(LongSupplier epochMicros) {
        this.epochMicros = epochMicros;
    }

    private Instant now() {
        return Instant.ofEpochMilli(Micros.floorToMillis(this.epochMicros.getAsLong()));
    }

    @Override
    public CompletableFuture<Void> report(String node, byte[] report) {
        Instant now = now();
        this.reports.values().removeIf((other) -> isGone(other, now));
        this.reports.put(node, new Report(node, report, now));
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<Void> remove(String node) {
        this.reports.remove(node);
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<List<Report>> list() {
        Instant now = now();
        return CompletableFuture.completedFuture(this.reports.values()
            .stream()
            .filter((report) -> !isGone(report, now))
            .sorted((one, other) -> one.at().compareTo(other.at()))
            .limit(MAX_NODES)
            .toList());
    }

    private static boolean isGone(Report report, Instant now) {
        return report.at().isBefore(now.minus(MAX_AGE));
    }

}
