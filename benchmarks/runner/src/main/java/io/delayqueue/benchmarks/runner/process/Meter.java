package io.delayqueue.benchmarks.runner.process;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

import io.delayqueue.benchmarks.runner.result.Weather;

/** Reads what Redis, the contender and the machine have used, twice. */
public final class Meter {

    /** The commands that the runner itself calls. */
    private static final Pattern OURS = Pattern
        .compile("cmdstat_(info|ping|flushall|slowlog|latency|monitor|config|time).*");

    private static final Set<String> SCRIPTS = Set.of("cmdstat_eval", "cmdstat_evalsha", "cmdstat_fcall",
            "cmdstat_eval_ro", "cmdstat_evalsha_ro");

    private final Stage stage;

    private final Machine.Cores cores = Machine.cores();

    private final long nanos = System.nanoTime();

    private final double jvmMicros;

    /** CPU time of the runner, of tools that it ran, and of the servers of the stage. */
    private final double restMicros;

    private final long compilingMillis;

    private final Map<String, String> info;

    private Meter(Stage stage) {
        this.stage = stage;
        this.compilingMillis = compilingMillis();
        this.restMicros = restMicros();
        this.jvmMicros = jvmMicros();
        this.info = stage.redis().link().info("cpu", "commandstats");
    }

    public static Meter start(Stage stage) {
        return new Meter(stage);
    }

    public Usage stop() {
        Map<String, String> now = this.stage.redis().link().info("cpu", "commandstats");
        Machine.Cores coresNow = Machine.cores();
        long wall = System.nanoTime() - this.nanos;
        double jvm = jvmMicros() - this.jvmMicros;
        double redis = redisMicros(now) - redisMicros(this.info);
        double other = coresNow.otherPercentSince(this.cores, redis + jvm + restMicros() - this.restMicros);
        Weather weather = new Weather(round(coresNow.stealPercentSince(this.cores)), round(other),
                round(coresNow.idlePercentSince(this.cores)), round(Machine.load()),
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        return new Usage(wall, redis, jvm, calls(now, false) - calls(this.info, false),
                calls(now, true) - calls(this.info, true),
                TimeUnit.MILLISECONDS.toNanos(Math.max(0, compilingMillis() - this.compilingMillis)), weather);
    }

    private long compilingMillis() {
        return this.stage.processes()
            .stream()
            .filter(ContenderProcess::isAlive)
            .mapToLong((process) -> process.call("jit").get("millis"))
            .sum();
    }

    private static double round(double value) {
        return Math.round(value * 10) / 10.0;
    }

    private double jvmMicros() {
        return this.stage.processes().stream().mapToDouble((process) -> process.cpu().toNanos() / 1e3).sum();
    }

    private double restMicros() {
        return Machine.cpuMicros(ProcessHandle.current().pid()) + this.stage.serverMicros();
    }

    private static double redisMicros(Map<String, String> info) {
        return 1e6 * (Double.parseDouble(info.getOrDefault("used_cpu_user", "0"))
                + Double.parseDouble(info.getOrDefault("used_cpu_sys", "0")));
    }

    private static long calls(Map<String, String> info, boolean onlyScripts) {
        return info.entrySet()
            .stream()
            .filter((entry) -> entry.getKey().startsWith("cmdstat_"))
            .filter((entry) -> onlyScripts ? SCRIPTS.contains(entry.getKey()) : !OURS.matcher(entry.getKey()).matches())
            .mapToLong((entry) -> callsOf(entry.getValue()))
            .sum();
    }

    /**
     * Returns the number of calls in a line such as
     * {@code calls=4,usec=12,usec_per_call=3.00}.
     */
    private static long callsOf(String statistics) {
        return Long.parseLong(statistics.substring("calls=".length(), statistics.indexOf(',')));
    }

}
