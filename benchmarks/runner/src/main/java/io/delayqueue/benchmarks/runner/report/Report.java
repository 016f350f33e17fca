package io.delayqueue.benchmarks.runner.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.delayqueue.benchmarks.runner.measure.Measure;
import io.delayqueue.benchmarks.runner.result.Cell;
import io.delayqueue.benchmarks.runner.result.Conditions;
import io.delayqueue.benchmarks.runner.result.Delivery;
import io.delayqueue.benchmarks.runner.result.Figure;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.ResultFiles;

/** Makes a page of whatever results are there. */
public final class Report {

    private static final String PLOTS = "performance";

    private static final String HEAD = """
            # Performance

            DelayQueue beside its peers and beside the least that Redis can do for a delayed message, all contenders of a
            measure in one run. This page is written by `scripts/benchmark report` from the files in `benchmarks/results`; do not edit it. What
            each contender is, and how to measure yourself: [benchmarks](../benchmarks/README.md).

            How to read it: trust counts first (commands, bytes, missing, doubled, early), then CPU in microseconds per
            message, then quotients of contenders in one run, and rates and milliseconds last; those are of one small
            machine, on which Redis, senders and handlers share the cores. A figure is the median of the rounds, with the
            least and the greatest beside it if there are several. *Steal* is the share of the machine's time that its host gave to others, the
            greatest of all rounds; *load* likewise. *Cell s* is for how long a cell was measured, in seconds; it is missing where neither it was
            recorded nor a rate. Rates from cells of a second or two, and from one or two rounds, differ from run to run by more than their spread
            says: the README gives the ranges that a longer run found. **Exactly once** is checked in every cell that delivers: what is
            missing, doubled or early is printed there.
            """;

    private final ResultFiles results;

    private final List<Measure> measures;

    public Report(ResultFiles results, List<Measure> measures) {
        this.results = results;
        this.measures = measures;
    }

    /**
     * Writes the page, {@code performance.md}, and its plots in a directory beside it.
     * @return the page
     */
    public Path write(Path directory) {
        Plots plots = new Plots(directory.resolve(PLOTS));
        StringBuilder text = new StringBuilder(HEAD);
        appendConditions(text);
        appendGoals(text);
        for (Measure measure : this.measures) {
            this.results.read(measure.name()).ifPresent((result) -> append(text, measure, result, plots));
        }
        try {
            Files.createDirectories(directory);
            return Files.writeString(directory.resolve("performance.md"), text);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void appendConditions(StringBuilder text) {
        Optional<Conditions> first = this.measures.stream()
            .flatMap((measure) -> this.results.read(measure.name()).stream())
            .map(Result::conditions)
            .findFirst();
        first.ifPresent((conditions) -> text.append("""

                ## Conditions

                | | |
                | --- | --- |
                | Machine | %s |
                | Redis | %s, from %s, no persistence, on loopback |
                | JVM of each contender | %s, `%s` |
                | Handlers | 16, unless said |
                | Clock | Redis' `TIME` and the JVM's clock differ by at most %d µs, a round trip included |
                | Time for all measures here | %d minutes |
                """.formatted(conditions.machine(), conditions.redis(), conditions.redisFrom(), conditions.java(),
                String.join(" ", conditions.jvmFlags()), conditions.clockOffsetMicros(), totalMinutes())));
    }

    private long totalMinutes() {
        return this.measures.stream()
            .flatMap((measure) -> this.results.read(measure.name()).stream())
            .mapToLong((result) -> result.conditions().seconds())
            .sum() / 60;
    }

    private void appendGoals(StringBuilder text) {
        text.append(
                """

                        ## Goals

                        A quotient is the median of the quotients of each round. Milliseconds count in rounds with steal under 2 %.
                        Where a goal is missed: [why, and what was tried](performance-bounds.md).

                        | Measure | Goal | Measured | | Commit | Rounds | Cell s |
                        | --- | --- | --- | --- | --- | ---: | ---: |
                        """);
        for (Goal goal : Goals.all(this.results::read)) {
            Outcome outcome = goal.evaluate(this.results::read);
            String run = (outcome.status() == Outcome.Status.NOT_MEASURED) ? " | | "
                    : this.results.read(goal.measure()).map(Report::run).orElseThrow();
            text.append("| %s | %s | %s | %s | %s |%n".formatted(goal.measure(), goal.text(), outcome.figures(),
                    outcome.status().text(), run));
        }
    }

    /** What a figure is of: the commit, how many rounds, and how long the cells. */
    private static String run(Result result) {
        return "%s | %d | %s".formatted(result.conditions().commit(), result.conditions().rounds(),
                Numbers.range(result.seconds(Goal.OURS)));
    }

    private void append(StringBuilder text, Measure measure, Result result, Plots plots) {
        Conditions conditions = result.conditions();
        text.append("%n## %s%n%n%s%n%n".formatted(measure.name(), measure.about()));
        text.append("%s, %s mode, %d %s, %d s, commit %s%s.%n%n".formatted(conditions.date(), conditions.mode(),
                conditions.rounds(), (conditions.rounds() == 1) ? "round" : "rounds", conditions.seconds(),
                conditions.commit(), conditions.dirty() ? " with changes" : ""));
        new Table(result).append(text);
        plots.draw(result)
            .forEach((title, file) -> text.append("%n![%s](%s/%s)%n".formatted(title, PLOTS, file.getFileName())));
        List<String> notes = new ArrayList<>();
        for (Cell cell : result.cells()) {
            for (String note : cell.notes()) {
                notes.add("- %s, %s, round %d: %s".formatted(cell.contender(), cell.scenario(), cell.round(), note));
            }
        }
        if (!notes.isEmpty()) {
            text.append("\n").append(String.join("\n", notes)).append("\n");
        }
    }

    /** The cells of a result, rounds together. */
    private record Table(Result result) {

        void append(StringBuilder text) {
            List<Figure> figures = new ArrayList<>();
            for (Figure figure : Figure.values()) {
                if (this.result.cells().stream().anyMatch((cell) -> has(cell, figure))) {
                    figures.add(figure);
                }
            }
            text.append("| Scenario | Contender |");
            figures.forEach((figure) -> text.append(" ").append(figure.heading()).append(" |"));
            text.append(" Delivery | Steal | Load |\n| --- | --- |");
            text.append(" ---: |".repeat(figures.size())).append(" --- | ---: | ---: |\n");
            for (String scenario : this.result.scenarios()) {
                for (String contender : this.result.contenders(scenario)) {
                    row(text, scenario, contender, figures);
                }
            }
        }

        private void row(StringBuilder text, String scenario, String contender, List<Figure> figures) {
            List<Cell> cells = this.result.cells(contender, scenario);
            text.append("| %s | %s |".formatted(scenario, contender));
            for (Figure figure : figures) {
                text.append(" %s |"
                    .formatted((figure == Figure.SECONDS) ? Numbers.range(this.result.seconds(contender, scenario))
                            : Numbers.write(this.result.spread(contender, scenario, figure.name()))));
            }
            text.append(" %s | %s %% | %s |%n".formatted(delivery(cells),
                    Numbers.write(cells.stream().mapToDouble((cell) -> cell.weather().stealPercent()).max().orElse(0)),
                    Numbers.write(cells.stream().mapToDouble((cell) -> cell.weather().load()).max().orElse(0))));
        }

        private static boolean has(Cell cell, Figure figure) {
            return (figure == Figure.SECONDS) ? cell.seconds().isPresent() : cell.figures().containsKey(figure.name());
        }

        private static String delivery(List<Cell> cells) {
            Delivery sum = new Delivery(0, 0, 0, 0, 0, 0, 0);
            for (Cell cell : cells) {
                sum = (cell.delivery() != null) ? sum.plus(cell.delivery()) : sum;
            }
            return (sum.expected() == 0) ? "" : sum.describe();
        }

    }

}
