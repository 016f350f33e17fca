package io.delayqueue.migrate.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.PayloadDecoder;
import io.delayqueue.migrate.engine.DryRun;
import io.delayqueue.migrate.engine.Migration;
import io.delayqueue.migrate.engine.Migration.QueueMoves;
import io.delayqueue.migrate.engine.MoveRate;
import io.delayqueue.migrate.engine.PayloadDecoders;
import io.delayqueue.migrate.SourceStatus;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Provides the base of {@code copy} and {@code follow}, which move entries. */
abstract class MoveCommand extends StepCommand {

    @Mixin
    private final TargetArguments targetArguments = new TargetArguments();

    @Option(names = "--payload", paramLabel = "NAME", defaultValue = "json",
            description = "json, string, or the class of a PayloadDecoder. Default: ${DEFAULT-VALUE}")
    private String payload = "json";

    @Option(names = "--batch", paramLabel = "NUMBER", defaultValue = "500",
            description = "entries of a batch, 1 to 1000; a kill may repeat the messages of one. "
                    + "Default: ${DEFAULT-VALUE}")
    private int batch;

    @Option(names = "--rate", paramLabel = "NUMBER", defaultValue = "0",
            description = "entries per second; 0 for no limit, the default")
    private int rate;

    @Option(names = "--dry-run", description = "read and decode every entry, and change nothing")
    private boolean dryRun;

    @Override
    void check() {
        this.targetArguments.check();
        PayloadDecoders.named(this.payload);
        moveRate();
    }

    private MoveRate moveRate() {
        return new MoveRate(this.batch, this.rate, System::nanoTime);
    }

    @Override
    final MigrationReport run(MigrationSource source) {
        if (isEndless() && !source.canFollow()) {
            throw new IllegalArgumentException("This source cannot be followed as it is: give the statement that takes "
                    + "a row away from the application, --source-option=update=..., or use copy");
        }
        PayloadDecoder decoder = PayloadDecoders.named(this.payload);
        if (this.dryRun) {
            return dryRun(source, decoder);
        }
        List<String> problems = new ArrayList<>();
        Map<String, @Nullable String> queues = queues(source, problems);
        if (!problems.isEmpty()) {
            return report(List.of(), problems, List.of());
        }
        long waiting = queues.entrySet()
            .stream()
            .filter((queue) -> queue.getValue() != null)
            .mapToLong((queue) -> source.status(queue.getKey()).waiting())
            .sum();
        Map<String, QueueMoves> moves;
        try (TargetArguments.Target target = this.targetArguments.open(sourceArguments());
                ProgressBar progress = new ProgressBar(err(), isEndless() ? 0 : waiting, System::nanoTime)) {
            requireAnswers(target, queues);
            moves = move(new Migration(source, target.queues(), decoder, target.json(),
                    new Migration.Settings(mapping(), moveRate(), stop(), progress, System::nanoTime)));
        }
        return moved(source, moves);
    }

    /**
     * Cancels a message that no queue has, before anything is taken: entries that cannot
     * be sent would be neither in the source nor in DelayQueue. A queue that rejects the
     * sends of this program, such as a ledger, rejects cancels as well.
     * @throws io.delayqueue.DelayQueueException if a queue rejects it or does not answer
     */
    private static void requireAnswers(TargetArguments.Target target, Map<String, @Nullable String> queues) {
        String none = UUID.randomUUID().toString();
        queues.forEach((source, queue) -> {
            if (queue != null) {
                target.queues().cancel(queue, none);
            }
        });
    }

    private MigrationReport moved(MigrationSource source, Map<String, QueueMoves> moves) {
        List<QueueReport> reports = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        List<String> notes = new ArrayList<>(notes(moves));
        moves.forEach((queue, counts) -> {
            SourceStatus status = source.status(queue);
            String target = mapping().target(queue).orElseThrow();
            reports.add(QueueReport.of(queue, target, status, counts));
            if (status.unreadable() > 0) {
                problems
                    .add(("%,d entries of queue '%s' are unreadable. They are kept, and decoded again by the next run: "
                            + "fix --payload")
                        .formatted(status.unreadable(), queue));
            }
            if (status.waiting() > 0 && !isEndless() && !stop().isStopped()) {
                notes.add(("%,d entries of queue '%s' still wait: they came meanwhile, or could not be taken, such as "
                        + "rows that --source-option=update=... does not change. Run copy again")
                    .formatted(status.waiting(), queue));
            }
        });
        return report(reports, problems, notes);
    }

    private static List<String> notes(Map<String, QueueMoves> moves) {
        long repeated = moves.values().stream().mapToLong(QueueMoves::repeated).sum();
        return (repeated == 0) ? List.of() : List
            .of(("%,d entries were sent again: a run that had taken them was interrupted, or DelayQueue did not "
                    + "answer. At most %,d messages are handled twice by new consumers: those that had been handled "
                    + "before")
                .formatted(repeated, repeated));
    }

    private MigrationReport dryRun(MigrationSource source, PayloadDecoder decoder) {
        List<String> problems = new ArrayList<>();
        List<QueueReport> reports = new ArrayList<>();
        queues(source, problems).forEach((queue, target) -> {
            if (target == null) {
                return;
            }
            DryRun.Counts counts = DryRun.of(source, decoder, queue, target, stop()::isStopped);
            Map<String, Long> run = new LinkedHashMap<>();
            run.put("can be sent", counts.readable());
            run.put("would be dropped", counts.dropped());
            run.put("unreadable", counts.unreadable());
            reports.add(new QueueReport(queue, target, source.status(queue), run, counts.examples()));
            if (counts.unreadable() > 0) {
                problems.add("%,d entries of queue '%s' are unreadable with --payload=%s".formatted(counts.unreadable(),
                        queue, this.payload));
            }
        });
        return report(reports, problems, List.of(PLAN_ONLY));
    }

    /** Returns whether entries are moved that come later. */
    abstract boolean isEndless();

    /** Moves the entries. */
    abstract Map<String, QueueMoves> move(Migration migration);

}
