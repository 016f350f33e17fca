package io.delayqueue.benchmarks.runner.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

import io.delayqueue.benchmarks.runner.result.Delivery;
import io.delayqueue.benchmarks.runner.result.Figure;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.Spread;

/**
 * All goals. A median over the rounds decides, for quotients that of the rounds'
 * quotients.
 */
final class Goals {

    private static final List<String> SIZES = List.of("10,000", "100,000", "1,000,000", "10,000,000");

    /** The most messages of a queue that a node with 16 handlers holds. */
    private static final int HELD = 16 + 5 * 100;

    /** The lease, which is longer than the safety poll, and a second. */
    private static final int RECOVERY_SECONDS = 31;

    private Goals() {
    }

    /**
     * All goals.
     * @param results finds the result of a measure, for goals that need two
     */
    static List<Goal> all(Function<String, Optional<Result>> results) {
        List<Goal> goals = new ArrayList<>();
        addSend(goals);
        addDrain(goals);
        addMetered(goals);
        addLateness(goals);
        addBacklog(goals);
        addById(goals);
        addHerd(goals, results);
        addNodes(goals);
        addJournal(goals);
        return goals;
    }

    private static void addSend(List<Goal> goals) {
        for (String size : List.of(", 100 B", ", 1 KiB")) {
            String one = "1 thread" + size;
            String sixteen = "16 threads" + size;
            goals.add(Goal.atLeast(1, "send", one, "limit"));
            goals.add(Goal.atLeast(1, "send", sixteen, "limit"));
            for (String redisson : List.of("redisson", "redisson-tuned")) {
                goals.add(Goal.atLeast(1, "send", one, redisson));
                goals.add(Goal.atLeast(2.5, "send", sixteen, redisson));
            }
        }
        goals.add(Goal.atLeast(0.85, "sendAll", "100 B", "limit"));
        goals.add(Goal.atLeast(4, "sendAll", "100 B", "redisson"));
        goals.add(Goal.atLeast(4, "sendAll", "100 B", "redisson-tuned"));
    }

    private static void addDrain(List<Goal> goals) {
        for (String size : List.of("100 B", "1 KiB")) {
            goals.add(Goal.atLeast(0.75, "drain", size, "limit-leased"));
            goals.add(Goal.above(4, "drain", size, Figure.JVM_MICROS, "limit-leased"));
        }
        goals.add(Goal.atLeast(3, "drain", "100 B", "redisson"));
        goals.add(Goal.atLeast(1.5, "drain", "100 B", "redisson-tuned"));
        goals.add(Goal.atMost(10, "drain", "100 B", Figure.REDIS_MICROS));
        goals.add(Goal.atMost(1, "drain", "100 B", Figure.JVM_MICROS, "redisson-tuned"));
        goals.add(Goal.atMost(1, "drain", "100 B", Figure.JVM_MICROS, "rqueue-tuned"));
    }

    private static void addMetered(List<Goal> goals) {
        goals.add(new Goal("metered", "100 B: per second, with meters and observations ≥ 0.85 × without",
                (result) -> Goal.rateAtLeast(result, "100 B", "delayqueue-metered", Goal.OURS, 0.85)));
    }

    private static void addLateness(List<Goal> goals) {
        goals.add(Goal.atMost(1.5, "lateness", "20/s", Figure.P50));
        goals.add(Goal.atMost(8, "lateness", "20/s", Figure.P99));
        goals.add(Goal.atMost(0.2, "lateness", "20/s", Figure.P99, "redisson-tuned"));
        goals.add(Goal.none("lateness", "", "early", Delivery::early));
        for (String rate : List.of("1,000/s", "5,000/s")) {
            goals.add(Goal.above(0.5, "sustained", rate, Figure.P99, "timer-ms"));
        }
        for (String rate : List.of("1,000/s", "5,000/s", "10,000/s")) {
            goals.add(Goal.atMost(1, "sustained", rate, Figure.P99, "redisson-tuned"));
            goals.add(Goal.atMost(1, "sustained", rate, Figure.REDIS_MICROS, "redisson-tuned"));
        }
        goals.add(Goal.none("sustained", "", "early", Delivery::early));
        String tenMillion = "10,000,000 pending, 1,000/s for 600 s";
        goals.add(Goal.onceAtMost(20, "tenMillion", tenMillion, Figure.P99));
        goals.add(Goal.none("tenMillion", tenMillion, "early", Delivery::early));
    }

    private static void addBacklog(List<Goal> goals) {
        for (String size : SIZES) {
            goals.add(backlog(size, "send", 2, "limit"));
            goals.add(backlog(size, "hand over", 1.5, "limit-leased"));
        }
        for (String scenario : List.of("100 B, 10,000 pending", "100 B, 100,000 pending", "100 B, 1,000,000 pending",
                "1 KiB, 10,000 pending", "1 KiB, 100,000 pending")) {
            goals.add(Goal.countAtMost(1.15, "memory", scenario, Figure.BYTES, "limit"));
        }
    }

    /** Ten million are measured once, as it takes minutes to fill Redis. */
    private static Goal backlog(String size, String action, double bound, String other) {
        String scenario = "%s, %s pending".formatted(action, size);
        return size.equals("10,000,000") ? Goal.countAtMost(bound, "backlog", scenario, Figure.REDIS_MICROS, other)
                : Goal.atMost(bound, "backlog", scenario, Figure.REDIS_MICROS, other);
    }

    private static void addById(List<Goal> goals) {
        for (String call : List.of("find", "reschedule", "cancel")) {
            goals.add(new Goal("byId", "%s: Redis µs at 10,000,000 pending ≤ 1.5 × that at 10,000".formatted(call),
                    (result) -> Goal.atMost(result.growth(Goal.OURS, Figure.REDIS_MICROS.name(),
                            call + ", 10,000 pending", call + ", 10,000,000 pending", Goal.QUIET), 1.5, Goal.ROUNDS,
                            "×")));
        }
    }

    private static void addHerd(List<Goal> goals, Function<String, Optional<Result>> results) {
        String herd = "100,000 in one queue";
        goals.add(new Goal("herd", herd + ": per second ≥ 0.9 × that of the drain",
                (result) -> Goal.atLeast(byMedian(result.spread(Goal.OURS, herd, Figure.PER_SECOND.name(), Goal.QUIET),
                        results.apply("drain")
                            .map((drain) -> drain.spread(Goal.OURS, "100 B", Figure.PER_SECOND.name(), Goal.QUIET))
                            .orElse(new Spread(List.of()))),
                        0.9, "×")));
        goals.add(Goal.atMost(5, "herd", herd, Figure.SCRIPT_P999));
        goals.add(Goal.atMost(5, "herd", "10,000 in as many queues", Figure.SCRIPT_P999));
        goals.add(Goal.none("herd", "", "missing", Delivery::missing));
    }

    private static void addNodes(List<Goal> goals) {
        for (String nodes : List.of("1 node", "10 nodes")) {
            for (String queues : List.of("1 queue", "10 queues", "100 queues")) {
                goals.add(Goal.onceAtMost(0.25, "idle", "%s, %s".formatted(queues, nodes), Figure.SCRIPTS_PER_SECOND));
            }
        }
        goals.add(new Goal("idle", "connections per node the same for all numbers of queues and nodes", (result) -> {
            Spread connections = new Spread(result.scenarios()
                .stream()
                .flatMap((scenario) -> result.spread(Goal.OURS, scenario, Figure.CONNECTIONS.name()).values().stream())
                .toList());
            return connections.isEmpty() ? Outcome.NOT_MEASURED
                    : Outcome.of(connections.min() == connections.max(), Numbers.write(connections));
        }));
        goals.add(Goal.onceAtMost(1.5, "tenNodes", "10 nodes, 1/s", Figure.CLAIMS));
        goals.add(Goal.onceAtMost(0, "crash", "20,000 messages", Figure.LOST));
        goals.add(Goal.onceAtMost(HELD, "crash", "20,000 messages", Figure.BEGUN_TWICE));
        goals.add(Goal.onceAtMost(RECOVERY_SECONDS, "crash", "20,000 messages", Figure.ALL_DONE));
    }

    private static void addJournal(List<Goal> goals) {
        for (String database : List.of("H2", "PostgreSQL", "MariaDB")) {
            for (String peer : List.of("namastack", "namastack-tuned")) {
                addQuotient(goals, database, "delayqueue-outbox", 3, peer);
            }
            addQuotient(goals, database, "delayqueue-ledger", 0.5, "sql");
            addQuotient(goals, database, "delayqueue-ledger-alone", 0.5, "sql");
            String outbox = "delayqueue-outbox";
            String text = "%s, 4/s, %s: p50 ms ≤ 5".formatted(database, outbox);
            goals.add(new Goal("journal", outbox, text, (result) -> {
                Spread median = result.spread(outbox, database + ", 4/s", Figure.P50.name(), Goal.QUIET);
                return Goal.atMost(median, 5, Goal.ROUNDS, "");
            }));
        }
    }

    private static void addQuotient(List<Goal> goals, String database, String contender, double bound, String other) {
        goals.add(new Goal("journal", contender,
                "%s: per second of %s ≥ %s × %s".formatted(database, contender, Numbers.bound(bound), other),
                (result) -> Goal.rateAtLeast(result, database, contender, other, bound)));
    }

    /** Compares with another measure, whose rounds are not those of this one. */
    private static Spread byMedian(Spread spread, Spread other) {
        return new Spread((other.values().size() < Goal.ROUNDS) ? List.of()
                : spread.values().stream().map((value) -> value / other.median()).toList());
    }

}
