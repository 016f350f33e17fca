package io.delayqueue.benchmarks.runner.measure;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.benchmarks.runner.process.Database;
import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Reply;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Usage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.result.Figure;

/** Sends in transactions of a database while handlers run. */
final class JournalMeasure implements Measure {

    private static final String SEND = "send count=%d threads=16 bytes=100 delayMin=0";

    private static final String PACE = "pace count=%d rate=%d threads=4 bytes=100 delayMin=0";

    private static final int RATE = 4;

    /** About how long a cell takes. */
    private static final int SECONDS = 12;

    private static final int CALIBRATIONS = 3;

    /** With a journal, the JVM compiles for about a minute. */
    private static final Duration WARM_UP_LIMIT = Duration.ofSeconds(60);

    /** Without the history of messages. */
    private static final Variant LEDGER_ALONE = Variant.journal("ledger")
        .named("delayqueue-ledger-alone")
        .with("delayqueue.journal.history.enabled", "false");

    private final Map<Database.Kind, Database> databases = new EnumMap<>(Database.Kind.class);

    @Override
    public String name() {
        return "journal";
    }

    @Override
    public String title() {
        return "Sends in transactions";
    }

    @Override
    public String about() {
        return """
                16 threads send messages of 100 bytes without a delay, each in a transaction of its own, while 16 handlers that do \
                nothing run. The clock stops when the last one is handled and acknowledged, and its row is gone. *4/s* are sends at \
                that rate, which the defaults of Namastack sustain; the times are those from the return of the commit to the handler's first line (at 870763b3: from immediately before the commit). `sql` is the limit of a journal: an \
                INSERT for each message in its transaction, and DELETEs by key, up to 100 in a transaction, by one thread, without \
                Redis. `delayqueue-off` sends after the commit; \
                `delayqueue-ledger-alone` records no history of messages, `delayqueue-ledger` does, by default. Namastack Outbox is 1.6.0, with rows that are deleted; \
                `namastack-tuned` polls every 10 ms instead of every 2 s, for 500 keys instead of 10. db-scheduler is 16.12.0 and \
                polls after each commit. PostgreSQL and MariaDB write each commit to the disk; H2 runs in the JVM of the contender, and each \
                commit writes to its file (`WRITE_DELAY=0`). Messages that are not handled within the time limit are missing, and the rate counts the handled \
                ones.""";
    }

    @Override
    public List<Variant> variants(Mode mode) {
        return (mode == Mode.SMOKE) ? List.of(Variant.journal("ledger"))
                : List.of(Variant.SQL, Variant.journal("off"), Variant.journal("outbox"), Variant.journal("ledger"),
                        LEDGER_ALONE, Variant.NAMASTACK, Variant.NAMASTACK_TUNED, Variant.DB_SCHEDULER);
    }

    @Override
    public void measure(Round round) {
        for (Database.Kind kind : Database.Kind.values()) {
            if (Database.isAvailable(kind) && (round.mode() != Mode.SMOKE || kind == Database.Kind.H2)) {
                Database database = this.databases.computeIfAbsent(kind,
                        (each) -> Database.start(each, round.workshop().scratch()));
                try (Stage stage = round.open("handlers=16 url=" + database.create())) {
                    stage.uses(database::cpuMicros);
                    stage.call("start");
                    throughput(round, stage, kind, database);
                    latency(round, stage, kind, database);
                }
            }
        }
    }

    private static void throughput(Round round, Stage stage, Database.Kind kind, Database database) {
        boolean slow = round.variant().equals(Variant.NAMASTACK);
        int least = slow ? round.mode().pick(20, 20, 100) : round.mode().pick(200, 3000, 20_000);
        int first = slow ? least / 4 : least;
        int count = Math.max(least, (int) (rate(stage, first) * round.mode().pick(0, 0, SECONDS)));
        round.warmUp(stage, () -> send(stage, slow ? first : count / 2), WARM_UP_LIMIT);
        stage.call("expect count=%d", count);
        double databaseMicros = database.cpuMicros();
        Meter meter = Meter.start(stage);
        long start = stage.call(SEND, count).get("at");
        Reply end = stage.call("await millis=%d", 60_000);
        Usage usage = meter.stop();
        databaseMicros = database.cpuMicros() - databaseMicros;
        Reply findings = stage.call("findings");
        long handled = end.get("handled");
        long until = (handled < count) ? end.get("lastAt") : end.get("settledAt");
        Figures figures = new Figures().with(Figure.PER_SECOND, handled / ((until - start) / 1e9)).with(usage, handled);
        record(round, new Round.Scenario(kind.title(), kind.ordinal()), figures, findings, usage,
                databaseMicros / handled);
    }

    /**
     * Returns how many messages are handled in a second, after the worst of the
     * compilation.
     */
    private static double rate(Stage stage, int count) {
        long start = System.nanoTime();
        for (int i = 0; i < CALIBRATIONS; i++) {
            start = System.nanoTime();
            send(stage, count);
        }
        return count * 1e9 / (System.nanoTime() - start);
    }

    private static void latency(Round round, Stage stage, Database.Kind kind, Database database) {
        int count = RATE * round.mode().pick(1, 5, 10);
        stage.call("expect count=%d", count);
        double databaseMicros = database.cpuMicros();
        Meter meter = Meter.start(stage);
        stage.call(PACE, count, RATE);
        stage.call("await millis=%d", 60_000);
        Usage usage = meter.stop();
        databaseMicros = database.cpuMicros() - databaseMicros;
        Reply findings = stage.call("findings");
        record(round, new Round.Scenario("%s, %d/s".formatted(kind.title(), RATE), kind.ordinal()),
                new Figures().withLateness(findings).with(usage, count), findings, usage, databaseMicros / count);
    }

    private static void record(Round round, Round.Scenario scenario, Figures figures, Reply findings, Usage usage,
            double databaseMicros) {
        if (databaseMicros > 0) {
            figures.with(Figure.DATABASE_MICROS, databaseMicros);
        }
        round.record(scenario, figures, findings.delivery(), usage.weather());
    }

    private static Reply send(Stage stage, int count) {
        stage.call("expect count=%d", count);
        stage.call(SEND, count);
        return stage.call("await millis=%d", 60_000);
    }

}
