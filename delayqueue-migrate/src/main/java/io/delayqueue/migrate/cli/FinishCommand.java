package io.delayqueue.migrate.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.SourceStatus;
import io.delayqueue.migrate.engine.SourceReservation;
import io.delayqueue.migrate.engine.StopSignal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Deletes what is recorded about the migration. */
@Command(name = "finish", description = "Deletes the records of the migration, once verify finds nothing to do.")
final class FinishCommand extends StepCommand {

    private static final String ROWS_STAY = "The entries stay in this source, and finish deletes the only record that "
            + "they were sent: delete them there, as another copy sends all of them again.";

    @Option(names = "--discard-unreadable", description = "also delete the entries that are unreadable")
    private boolean discardUnreadable;

    FinishCommand() {
    }

    FinishCommand(StopSignal stop) {
        super(stop);
    }

    @Override
    MigrationReport run(MigrationSource source) {
        List<String> problems = new ArrayList<>();
        List<QueueReport> reports = new ArrayList<>();
        queues(source, problems).forEach((queue, target) -> {
            // Before the status is read, or another process could take entries behind it.
            if (target != null && SourceReservation.await(() -> source.own(queue), stop())) {
                SourceStatus status = source.status(queue);
                List<String> open = VerifyCommand.problems(queue, this.discardUnreadable ? readable(status) : status);
                problems.addAll(open);
                if (open.isEmpty()) {
                    source.finish(queue, stop()::isStopped);
                }
                reports.add(new QueueReport(queue, target, status, Map.of(), List.of()));
            }
        });
        return report(reports, problems, source.canFollow() ? List.of() : List.of(ROWS_STAY));
    }

    /** Returns the status with unreadable entries counted as dropped. */
    private static SourceStatus readable(SourceStatus status) {
        return new SourceStatus(status.waiting(), status.firstDue(), status.lastDue(), status.taken(),
                status.unsettled(), status.sent(), status.dropped() + status.unreadable(), 0, status.counts(),
                status.left());
    }

}
