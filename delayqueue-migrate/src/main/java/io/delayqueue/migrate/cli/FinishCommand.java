package io.delayqueue.migrate.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.SourceStatus;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Deletes what is recorded about the migration. */
@Command(name = "finish", description = "Deletes the records of the migration, once verify finds nothing to do.")
final class FinishCommand extends StepCommand {

    @Option(names = "--discard-unreadable", description = "also delete the entries that are unreadable")
    private boolean discardUnreadable;

    @Override
    MigrationReport run(MigrationSource source) {
        List<String> problems = new ArrayList<>();
        List<QueueReport> reports = new ArrayList<>();
        queues(source, problems).forEach((queue, target) -> {
            if (target != null) {
                SourceStatus status = source.status(queue);
                List<String> open = VerifyCommand.problems(queue, this.discardUnreadable ? readable(status) : status);
                problems.addAll(open);
                if (open.isEmpty()) {
                    source.finish(queue, stop()::isStopped);
                }
                reports.add(new QueueReport(queue, target, status, Map.of(), List.of()));
            }
        });
        return report(reports, problems, List.of());
    }

    /** Returns the status with unreadable entries counted as dropped. */
    private static SourceStatus readable(SourceStatus status) {
        return new SourceStatus(status.waiting(), status.firstDue(), status.lastDue(), status.taken(),
                status.unsettled(), status.sent(), status.dropped() + status.unreadable(), 0, status.counts(),
                status.left());
    }

}
