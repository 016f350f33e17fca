package io.delayqueue.benchmarks.runner.process;

import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleSupplier;

/**
 * A Redis and the processes of a contender that use it, the first of which is
 * {@link #call called}. Threads: one at a time.
 */
public final class Stage implements AutoCloseable {

    private final Workshop workshop;

    private final Variant variant;

    private final RedisServer redis;

    private final List<ContenderProcess> processes = new ArrayList<>();

    private final List<DoubleSupplier> servers = new ArrayList<>();

    Stage(Workshop workshop, Variant variant, RedisServer redis) {
        this.workshop = workshop;
        this.variant = variant;
        this.redis = redis;
    }

    /**
     * Starts one more process of the contender and connects it.
     * @param words further words for its {@code open} request
     * @param flags further flags of its JVM
     */
    public ContenderProcess add(String words, String... flags) {
        ContenderProcess process = this.workshop.process(this.variant, List.of(flags));
        this.processes.add(process);
        StringBuilder open = new StringBuilder("open port=" + this.redis.port());
        this.variant.options().forEach((name, value) -> open.append(' ').append(name).append('=').append(value));
        process.call(open.append(' ').append(words).toString());
        return process;
    }

    public Variant variant() {
        return this.variant;
    }

    public RedisServer redis() {
        return this.redis;
    }

    public List<ContenderProcess> processes() {
        return List.copyOf(this.processes);
    }

    /** Adds a server that the contender uses, by the CPU time that it has used. */
    public void uses(DoubleSupplier micros) {
        this.servers.add(micros);
    }

    /** Returns the CPU time of the servers other than Redis, in microseconds. */
    double serverMicros() {
        return this.servers.stream().mapToDouble(DoubleSupplier::getAsDouble).sum();
    }

    /** Sends a request to the first process. */
    public Reply call(String request, Object... arguments) {
        return this.processes.get(0).call(request.formatted(arguments));
    }

    /** Removes everything. */
    public void flush() {
        this.redis.link().call("FLUSHALL", "SYNC");
    }

    /** Waits until Redis has little to do, up to a minute. */
    public void awaitQuiet() {
        double percent = 100;
        for (int i = 0; i < 200 && percent > 10; i++) {
            Meter meter = Meter.start(this);
            // Real time: the processor time of Redis is measured over this span.
            Pause.millis(300);
            Usage usage = meter.stop();
            percent = 100 * usage.redisMicros() / (usage.wallNanos() / 1e3);
        }
    }

    @Override
    public void close() {
        this.processes.forEach(ContenderProcess::close);
        this.redis.close();
    }

}
