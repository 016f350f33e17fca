package io.delayqueue.benchmarks.runner.process;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * A contender as it takes part: which one, with which options, and built from where.
 *
 * @param name its name in tables
 * @param module the module under {@code benchmarks}
 * @param mainClass what its JVM runs
 * @param options words for its {@code open} request
 * @param library where the library is built that it runs on, if not here
 */
public record Variant(String name, String module, String mainClass, Map<String, String> options, Path library) {

    private static final String PACKAGE = "io.delayqueue.benchmarks.";

    private static final Path HERE = Path.of("");

    public static final Variant OURS = new Variant("delayqueue", "delayqueue",
            PACKAGE + "delayqueue.DelayQueueBenchmark", Map.of(), HERE);

    /** With the default concurrency of the library. */
    public static final Variant OURS_DEFAULTS = OURS.named("delayqueue-defaults").with("handlers", "0");

    /** With meters and observations, by a Prometheus registry. */
    public static final Variant OURS_METERED = OURS.named("delayqueue-metered").with("metered", "yes");

    /** With Boot's observation of every command of Redis on top. */
    public static final Variant OURS_ALL_METERED = OURS.named("delayqueue-lettuce-metered").with("metered", "lettuce");

    public static final Variant LIMIT = new Variant("limit", "limit", PACKAGE + "limit.LimitBenchmark", Map.of(), HERE);

    /** With leases and acknowledgements. */
    public static final Variant LIMIT_LEASED = LIMIT.named("limit-leased").with("leased", "true");

    /** Sends through a blocking socket. */
    public static final Variant SOCKET = new Variant("socket", "limit", PACKAGE + "limit.SocketBenchmark", Map.of(),
            HERE);

    /** A timer thread, and no Redis. */
    public static final Variant TIMER = new Variant("timer", "limit", PACKAGE + "limit.TimerBenchmark", Map.of(), HERE);

    /** A timer thread whose due times are milliseconds. */
    public static final Variant TIMER_MILLIS = TIMER.named("timer-ms").with("millis", "true");

    public static final Variant REDISSON = new Variant("redisson", "redisson", PACKAGE + "redisson.RedissonBenchmark",
            Map.of(), HERE);

    /** Drained by {@code poll(n)}, with threads, connections and timer for two cores. */
    public static final Variant REDISSON_TUNED = REDISSON.named("redisson-tuned").with("tuned", "true");

    public static final Variant RQUEUE = new Variant("rqueue", "rqueue", PACKAGE + "rqueue.RqueueBenchmark", Map.of(),
            HERE);

    /** With its mover and its poller as fast as its settings allow. */
    public static final Variant RQUEUE_TUNED = RQUEUE.named("rqueue-tuned").with("tuned", "true");

    /** The least that a journal asks of a database. */
    public static final Variant SQL = new Variant("sql", "sql", PACKAGE + "sql.SqlBenchmark", Map.of(), HERE);

    public static final Variant NAMASTACK = new Variant("namastack", "namastack",
            PACKAGE + "namastack.NamastackBenchmark", Map.of(), HERE);

    /** With its poller as fast as its settings allow. */
    public static final Variant NAMASTACK_TUNED = NAMASTACK.named("namastack-tuned").with("tuned", "true");

    public static final Variant DB_SCHEDULER = new Variant("db-scheduler", "dbscheduler",
            PACKAGE + "dbscheduler.DbSchedulerBenchmark", Map.of(), HERE);

    /** With a journal of a mode. */
    public static Variant journal(String mode) {
        return new Variant("delayqueue-" + mode, "journal", PACKAGE + "journal.JournalBenchmark",
                Map.of("delayqueue.journal.mode", mode), HERE);
    }

    public Variant named(String name) {
        return new Variant(name, this.module, this.mainClass, this.options, this.library);
    }

    public Variant with(String option, String value) {
        Map<String, String> options = new TreeMap<>(this.options);
        options.put(option, value);
        return new Variant(this.name, this.module, this.mainClass, options, this.library);
    }

    /** The same contender on the library that is built in another directory. */
    public Variant on(Path library) {
        return new Variant(this.name, this.module, this.mainClass, this.options, library);
    }

    public boolean isOurs() {
        return this.module.equals(OURS.module);
    }

    public boolean isRqueue() {
        return this.module.equals(RQUEUE.module);
    }

    public boolean isRedisson() {
        return this.module.equals(REDISSON.module);
    }

    public boolean isPeer() {
        return isRqueue() || isRedisson();
    }

    boolean isElsewhere() {
        return !this.library.equals(HERE);
    }

}
