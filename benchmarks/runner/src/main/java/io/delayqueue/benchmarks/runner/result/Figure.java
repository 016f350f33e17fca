package io.delayqueue.benchmarks.runner.result;

/** Names of figures, and how a table heads them. */
public enum Figure {

    /** Length of the cell: for how long it was measured, in seconds. */
    SECONDS("cell s"),

    /** Messages or calls per second. */
    PER_SECOND("per second"),

    /** CPU of Redis per message, in microseconds. */
    REDIS_MICROS("Redis µs/msg"),

    /** CPU of the contender's JVM per message, in microseconds. */
    JVM_MICROS("JVM µs/msg"),

    /** CPU of Redis and the contender's JVM per message, in microseconds. */
    CPU_MICROS("CPU µs/msg"),

    /** CPU of the server of the database per message, in microseconds. */
    DATABASE_MICROS("database µs/msg"),

    /** Commands per message as Redis counts them, those inside scripts included. */
    COMMANDS("commands/msg"),

    /** Time of all compiler threads of the JVM, in percent of the cell. */
    COMPILING("compiling %"),

    /** Median difference to the due time in milliseconds; also below. */
    P50("p50 ms"),

    /** Lateness in milliseconds. */
    P90("p90 ms"),

    /** Lateness in milliseconds. */
    P99("p99 ms"),

    /** Lateness in milliseconds. */
    P999("p99.9 ms"),

    /** Lateness in milliseconds. */
    MAX("max ms"),

    /** Memory of Redis per pending message. */
    BYTES("bytes/msg"),

    /** Script calls per second, queue and node. */
    SCRIPTS_PER_SECOND("scripts/s, queue and node"),

    /** Commands per second in all, those inside scripts included. */
    COMMANDS_PER_SECOND("commands/s"),

    /** Connections to Redis per node. */
    CONNECTIONS("connections/node"),

    /** CPU of the JVMs in milliseconds per second and node. */
    JVM_PER_SECOND("JVM ms/s, node"),

    /** Claims per message, over all nodes. */
    CLAIMS("claims/msg"),

    /** Script calls per message, over all nodes. */
    SCRIPTS("scripts/msg"),

    /** 99.9th percentile of the time of a script in Redis, in milliseconds. */
    SCRIPT_P999("script p99.9 ms"),

    /** Longest script in Redis, in milliseconds. */
    SCRIPT_MAX("script max ms"),

    /** Messages never handled. */
    LOST("lost"),

    /** Messages begun more than once. */
    BEGUN_TWICE("begun twice"),

    /** Seconds from the kill until all was handled. */
    ALL_DONE("all handled after s"),

    /** Share of calls that found their message. */
    HITS("hits");

    private final String heading;

    Figure(String heading) {
        this.heading = heading;
    }

    public String heading() {
        return this.heading;
    }

}
