package io.delayqueue.migrate.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.engine.QueueMapping;
import io.delayqueue.migrate.engine.StopSignal;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Provides the base of the commands that run one step and write its report. */
@Command(mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = false)
abstract class StepCommand implements Callable<Integer> {

    private static final long STOP_SECONDS = 10;

    static final String PLAN_ONLY = "Nothing has been changed.";

    @Mixin
    private final SourceArguments sourceArguments = new SourceArguments();

    @Option(names = "--report", paramLabel = "PATH", defaultValue = "delayqueue-migrate",
            description = "where to write the report: PATH-STEP.json and PATH-STEP.txt. Default: ${DEFAULT-VALUE}")
    private Path report = Path.of("delayqueue-migrate");

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    private final Clock clock = Clock.systemUTC();

    private final StopSignal stop;

    private final CountDownLatch ended = new CountDownLatch(1);

    private Instant startedAt = Instant.EPOCH;

    StepCommand() {
        this(new StopSignal());
    }

    StepCommand(StopSignal stop) {
        this.stop = stop;
    }

    @Override
    public final Integer call() {
        this.startedAt = this.clock.instant();
        mapping();
        check();
        MigrationReport.requireWritable(this.report, this.spec.name());
        Thread hook = new Thread(this::stopAndAwait, "stop");
        Runtime.getRuntime().addShutdownHook(hook);
        try (MigrationSource source = this.sourceArguments.open()) {
            MigrationReport result = run(source);
            out().println(result.asText());
            result.writeTo(this.report);
            out().println("Report: %s-%s.json and .txt".formatted(this.report, result.step()));
            return result.done() ? 0 : 1;
        }
        finally {
            this.ended.countDown();
            if (!this.stop.isStopped()) {
                Runtime.getRuntime().removeShutdownHook(hook);
            }
        }
    }

    /** Lets a SIGTERM wait until the batch is settled and the report is written. */
    private void stopAndAwait() {
        this.stop.stop();
        try {
            if (!this.ended.await(STOP_SECONDS, TimeUnit.SECONDS)) {
                err().println("The batch is not settled yet: the next run continues it");
            }
        }
        catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Checks the options before anything is connected.
     * @throws IllegalArgumentException if one is not valid
     */
    void check() {
    }

    /** Runs the step. */
    abstract MigrationReport run(MigrationSource source);

    final SourceArguments sourceArguments() {
        return this.sourceArguments;
    }

    final QueueMapping mapping() {
        return this.sourceArguments.mapping();
    }

    final StopSignal stop() {
        return this.stop;
    }

    final PrintWriter out() {
        return this.spec.commandLine().getOut();
    }

    final PrintWriter err() {
        return this.spec.commandLine().getErr();
    }

    /**
     * Returns the queues of the source with their targets, which are {@code null} if they
     * are not moved.
     */
    final Map<String, @Nullable String> queues(MigrationSource source, List<String> problems) {
        QueueMapping mapping = mapping();
        TreeSet<String> names = new TreeSet<>(source.queues());
        names.addAll(mapping.names());
        Map<String, @Nullable String> queues = new LinkedHashMap<>();
        for (String name : names) {
            try {
                queues.put(name, mapping.target(name).orElse(null));
            }
            catch (IllegalArgumentException ex) {
                queues.put(name, null);
                problems.add(ex.getMessage());
            }
        }
        return queues;
    }

    /** Returns whether the step was stopped before its end. */
    boolean isStoppedEarly() {
        return this.stop.isStopped();
    }

    /** Returns the report. */
    final MigrationReport report(List<QueueReport> queues, List<String> problems, List<String> notes) {
        return new MigrationReport(this.spec.name(), this.sourceArguments.name(), this.startedAt, this.clock.instant(),
                isStoppedEarly(), List.copyOf(queues), new ArrayList<>(problems), new ArrayList<>(notes));
    }

}
