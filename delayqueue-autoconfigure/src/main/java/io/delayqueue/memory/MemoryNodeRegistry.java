package io.delayqueue.memory;

import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

import io.delayqueue.store.NodeRegistry;

/**
 * Holds the reports and the wanted states of the nodes of this process. The lock of this
 * object guards the maps.
 */
final class MemoryNodeRegistry implements NodeRegistry {

    private static final byte[] NOTHING = {};

    private final Map<String, Report> reports = new HashMap<>();

    private final Map<String, byte[]> wanted = new HashMap<>();

    private final Map<String, byte[]> stacks = new HashMap<>();

    private final LongSupplier epochMicros;

    MemoryNodeRegistry(LongSupplier epochMicros) {
        this.epochMicros = epochMicros;
    }

    private Instant now() {
        return Instant.ofEpochMilli(Micros.floorToMillis(this.epochMicros.getAsLong()));
    }

    @Override
    public synchronized CompletableFuture<NodeEntry> report(String node, byte[] report) {
        Instant now = now();
        List.copyOf(this.reports.values()).stream().filter((other) -> isGone(other, now)).forEach(this::forget);
        this.reports.put(node, new Report(node, report, now));
        return entry(node, this.wanted);
    }

    @Override
    public synchronized CompletableFuture<Void> remove(String node) {
        Report report = this.reports.get(node);
        if (report != null) {
            forget(report);
        }
        return CompletableFuture.completedFuture(null);
    }

    private void forget(Report report) {
        this.reports.remove(report.node());
        this.wanted.remove(report.node());
        this.stacks.remove(report.node());
    }

    @Override
    public synchronized CompletableFuture<List<Report>> list() {
        Instant now = now();
        return CompletableFuture.completedFuture(this.reports.values()
            .stream()
            .filter((report) -> !isGone(report, now))
            .sorted((one, other) -> one.at().compareTo(other.at()))
            .limit(MAX_NODES)
            .toList());
    }

    @Override
    public synchronized CompletableFuture<NodeEntry> wanted(String node) {
        return entry(node, this.wanted);
    }

    @Override
    public synchronized CompletableFuture<NodeEntry> change(String node, byte[] before, byte[] wanted) {
        if (isAlive(node) && Arrays.equals(this.wanted.getOrDefault(node, NOTHING), before)) {
            put(this.wanted, node, wanted);
        }
        return entry(node, this.wanted);
    }

    @Override
    public synchronized CompletableFuture<NodeEntry> putStacks(String node, byte[] stacks) {
        if (isAlive(node)) {
            put(this.stacks, node, stacks);
        }
        return entry(node, this.stacks);
    }

    @Override
    public synchronized CompletableFuture<NodeEntry> stacks(String node) {
        return entry(node, this.stacks);
    }

    private static void put(Map<String, byte[]> entries, String node, byte[] content) {
        if (content.length == 0) {
            entries.remove(node);
        }
        else {
            entries.put(node, content);
        }
    }

    private CompletableFuture<NodeEntry> entry(String node, Map<String, byte[]> entries) {
        boolean alive = isAlive(node);
        return CompletableFuture
            .completedFuture(new NodeEntry(alive, now(), alive ? entries.getOrDefault(node, NOTHING) : NOTHING));
    }

    private boolean isAlive(String node) {
        Report report = this.reports.get(node);
        return report != null && !isGone(report, now());
    }

    private static boolean isGone(Report report, Instant now) {
        return report.at().isBefore(now.minus(MAX_AGE));
    }

}
