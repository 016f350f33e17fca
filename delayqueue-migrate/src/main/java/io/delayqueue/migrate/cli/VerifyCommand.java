package io.delayqueue.migrate.cli;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.SourceStatus;
import io.delayqueue.migrate.engine.PayloadDecoders;
import io.delayqueue.migrate.engine.SentCheck;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Checks that every entry was moved. */
@Command(name = "verify", description = "Checks that the source is empty and that every entry taken from it was sent. "
        + "Changes nothing.")
final class VerifyCommand extends StepCommand {

    private static final String COUNTS_ONLY = "Only counts were compared. Use --check=NUMBER to look up messages and "
            + "their due times as well.";

    private static final String NOTHING_TO_LOOK_UP = "No message of queue '%s' was looked up: all are due by now, or the "
            + "source does not list what was sent.";

    @Mixin
    private final TargetArguments targetArguments = new TargetArguments();

    @Option(names = "--check", paramLabel = "NUMBER", defaultValue = "0",
            description = "also check this number of the sent messages of each queue, of those that are not due yet, and "
                    + "of the schedules; 0, the default, for none")
    private long check;

    @Option(names = "--payload", paramLabel = "NAME", defaultValue = "json",
            description = "as for copy; for --check. Default: ${DEFAULT-VALUE}")
    private String payload = "json";

    @Override
    void check() {
        if (this.check < 0) {
            throw new IllegalArgumentException("--check=%d is not valid: use 0 or more".formatted(this.check));
        }
        this.targetArguments.check();
        PayloadDecoders.named(this.payload);
    }

    @Override
    MigrationReport run(MigrationSource source) {
        if (this.check == 0) {
            return run(source, null);
        }
        try (TargetArguments.Target target = this.targetArguments.open(sourceArguments())) {
            return run(source, target);
        }
    }

    private MigrationReport run(MigrationSource source, TargetArguments.@Nullable Target target) {
        List<String> problems = new ArrayList<>();
        List<QueueReport> reports = new ArrayList<>();
        List<String> notes = new ArrayList<>((target != null) ? List.of() : List.of(COUNTS_ONLY));
        queues(source, problems).forEach((queue, name) -> {
            SourceStatus status = source.status(queue);
            Map<String, Long> run = new LinkedHashMap<>();
            if (name != null) {
                problems.addAll(problems(queue, status));
            }
            if (name != null && target != null) {
                SentCheck.Counts counts = new SentCheck(target.queues(), PayloadDecoders.named(this.payload),
                        InstantSource.system())
                    .run(source, queue, name, this.check);
                run.put("found with their due time", counts.found());
                run.put("found with another due time", counts.changed());
                run.put("not found", counts.missing());
                problems.addAll(problems(name, counts));
                if (counts.found() + counts.changed() + counts.missing() == 0 && status.sent() > 0) {
                    notes.add(NOTHING_TO_LOOK_UP.formatted(name));
                }
            }
            reports.add(new QueueReport(queue, name, status, run, List.of()));
        });
        notes.add(PLAN_ONLY);
        return report(reports, problems, notes);
    }

    private static List<String> problems(String name, SentCheck.Counts counts) {
        List<String> problems = new ArrayList<>();
        if (counts.changed() > 0) {
            problems
                .add(("%,d messages of queue '%s' have another due time than in the source, schedules included: the "
                        + "application has rescheduled them, or they were sent with a wrong one")
                    .formatted(counts.changed(), name));
        }
        if (counts.missing() > 0) {
            problems.add(("%,d messages of queue '%s' that are not due yet are not there, schedules included: the "
                    + "application has cancelled or removed them, or they are lost")
                .formatted(counts.missing(), name));
        }
        return problems;
    }

    /** Returns what is left to do for a queue. */
    static List<String> problems(String queue, SourceStatus status) {
        List<String> problems = new ArrayList<>();
        if (status.waiting() > 0) {
            problems.add("%,d entries wait in queue '%s': run follow until no old producer is left"
                .formatted(status.waiting(), queue));
        }
        if (status.unsettled() > 0) {
            problems
                .add("%,d entries of queue '%s' are taken and not sent: run copy".formatted(status.unsettled(), queue));
        }
        if (status.unreadable() > 0) {
            problems.add("%,d entries of queue '%s' are unreadable: run copy with another --payload, or finish with "
                .formatted(status.unreadable(), queue) + "--discard-unreadable");
        }
        if (!status.isBalanced()) {
            problems.add(
                    "The counts of queue '%s' do not agree: its keys were changed by another program".formatted(queue));
        }
        status.left().forEach((reason, number) -> {
            if (number > 0) {
                problems.add("%,d entries of queue '%s' are left: %s".formatted(number, queue, reason));
            }
        });
        return problems;
    }

}
