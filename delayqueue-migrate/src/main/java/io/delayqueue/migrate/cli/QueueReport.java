package io.delayqueue.migrate.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.delayqueue.migrate.EntryOutcome;
import io.delayqueue.migrate.SourceStatus;
import io.delayqueue.migrate.engine.Migration.QueueMoves;
import org.jspecify.annotations.Nullable;

/**
 * Describes a queue in a report.
 *
 * @param queue its name in the source
 * @param target the queue to which its entries are sent; {@code null} if it is not moved
 * @param status its counts at the end of the step
 * @param thisRun what this run did, by name
 * @param examples why some of its entries cannot be moved
 */
record QueueReport(String queue, @Nullable String target, SourceStatus status, Map<String, Long> thisRun,
        List<String> examples) {

    /** Describes a queue whose entries were moved. */
    static QueueReport of(String queue, String target, SourceStatus status, QueueMoves moves) {
        Map<String, Long> run = new TreeMap<>(Map.of("sent", moves.sent(), "dropped", moves.dropped(), "unreadable",
                moves.unreadable(), "kept", moves.kept(), "renamed", moves.renamed(), "repeated", moves.repeated(),
                "schedules", moves.schedules()));
        return new QueueReport(queue, target, status, run, moves.examples().stream().map(QueueReport::text).toList());
    }

    private static String text(EntryOutcome outcome) {
        return outcome.id() + ": " + outcome.reason();
    }

    /** Describes the queue in lines. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add("Queue %s -> %s".formatted(this.queue, (this.target != null) ? this.target : "(not moved)"));
        lines.add("  in the source   %,d waiting%s".formatted(this.status.waiting(), (this.status.firstDue() != null)
                ? ", due from %s to %s".formatted(this.status.firstDue(), this.status.lastDue()) : ""));
        this.status.left().forEach((reason, number) -> {
            if (number > 0) {
                lines.add("                  %,d %s".formatted(number, reason));
            }
        });
        lines.add("  taken so far    %,d = %,d sent + %,d dropped + %,d unreadable + %,d not settled".formatted(
                this.status.taken(), this.status.sent(), this.status.dropped(), this.status.unreadable(),
                this.status.unsettled()));
        this.status.counts().forEach((name, number) -> lines.add("                  %,d %s".formatted(number, name)));
        this.thisRun.forEach((name, number) -> {
            if (number > 0) {
                lines.add("  this run        %,d %s".formatted(number, name));
            }
        });
        this.examples.forEach((example) -> lines.add("  unreadable      " + example));
        return lines;
    }

}
