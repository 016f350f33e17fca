package io.delayqueue.migrate.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.delayqueue.migrate.MigrationSource;
import io.delayqueue.migrate.PayloadDecoder;
import io.delayqueue.migrate.SourceStatus;
import io.delayqueue.migrate.engine.DryRun;
import io.delayqueue.migrate.engine.PayloadDecoders;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Counts the waiting messages, and reads samples. */
@Command(name = "plan", description = "Counts the waiting messages of the source and reads samples. Changes nothing.")
final class PlanCommand extends StepCommand {

    /** Places of a queue at which ten entries are read. */
    private static final int PLACES = 100;

    /** The measured rate in {@code docs/migrate.md}, rounded down. */
    static final int USUAL_RATE = 4_000;

    @Option(names = "--payload", paramLabel = "NAME", defaultValue = "json",
            description = "json, string, or the class of a PayloadDecoder. Default: ${DEFAULT-VALUE}")
    private String payload = "json";

    @Option(names = "--rate", paramLabel = "NUMBER", defaultValue = "0",
            description = "entries per second that copy will be limited to, for the estimate")
    private int rate;

    @Override
    void check() {
        PayloadDecoders.named(this.payload);
    }

    @Override
    MigrationReport run(MigrationSource source) {
        PayloadDecoder decoder = PayloadDecoders.named(this.payload);
        List<String> problems = new ArrayList<>();
        List<QueueReport> reports = new ArrayList<>();
        long[] waiting = new long[1];
        queues(source, problems).forEach((queue, target) -> {
            SourceStatus status = source.status(queue);
            if (target == null) {
                reports.add(new QueueReport(queue, null, status, Map.of(), List.of()));
                return;
            }
            waiting[0] += status.waiting();
            DryRun.Counts sample = DryRun.sample(source, decoder, queue, target, status.waiting(), PLACES);
            Map<String, Long> run = new LinkedHashMap<>();
            run.put("of a sample can be sent", sample.readable());
            run.put("of a sample would be dropped", sample.dropped());
            run.put("of a sample unreadable", sample.unreadable());
            reports.add(new QueueReport(queue, target, status, run, sample.examples()));
            if (sample.unreadable() > 0) {
                problems.add("%,d entries of a sample of queue '%s' are unreadable with --payload=%s"
                    .formatted(sample.unreadable(), queue, this.payload));
            }
        });
        return report(reports, problems, List.of(estimate(waiting[0], this.rate), PLAN_ONLY));
    }

    /** Returns the time that a copy takes, rounded up. */
    static String estimate(long waiting, int rate) {
        int perSecond = (rate > 0) ? rate : USUAL_RATE;
        Duration time = Duration.ofSeconds(waiting / perSecond + 1);
        return "%,d entries take about %d min %d s at %,d per second".formatted(waiting, time.toMinutes(),
                time.toSecondsPart(), perSecond);
    }

}
