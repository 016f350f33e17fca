package io.delayqueue.benchmarks.runner.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.delayqueue.benchmarks.runner.measure.Measure;
import io.delayqueue.benchmarks.runner.result.Cell;
import io.delayqueue.benchmarks.runner.result.Conditions;
import io.delayqueue.benchmarks.runner.result.Delivery;
import io.delayqueue.benchmarks.runner.result.Figure;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.ResultFiles;

/**
 * Writes the pages of the available results: an overview, and the details of each
 * measure.
 */
public final class Report {

    private static final String PLOTS = "performance";

    private static final String OVERVIEW = "performance.md";

    private static final String DETAILS = "internals/performance-details.md";

    /** The measures whose plots are in the overview. */
    private static final Set<String> PLOTTED = Set.of("drain", "backlog", "memory");

    private static final String OVERVIEW_HEAD = """
            # Performance

            This page compares DelayQueue with its peers and with the limit, scripts that store and take messages and check nothing; all
            contenders of a measure take part in one run. The [details](internals/performance-details.md) have all goals and the tables of each
            measure. `scripts/benchmark report` writes both pages, and the tables in the [README](../README.md) and the
            [comparison](comparison.md), from the files in `benchmarks/results`; do not edit them. [Benchmarks](../benchmarks/README.md)
            describes the contenders, and how to measure yourself.

            Trust counts first (commands, bytes, missing, duplicate, early), then CPU in microseconds per message, then quotients of
            contenders in one run, and rates and milliseconds last: those are of one small machine, on which Redis, senders and handlers share
            the cores.
            """;

    private static final String BOTTLENECKS = """
            The [bottlenecks](internals/performance-details.md#bottlenecks-behind-missed-goals) are explained behind the details.
            """;

    private static final String DETAILS_HEAD = """
            # Performance in detail

            This page has all goals and figures behind [performance](../performance.md), which explains how far to trust them.
            `scripts/benchmark report` writes it; do not edit it.

            A figure is the median of the rounds, with the minimum and the maximum in parentheses if there are several. *Steal* is the share
            of the machine's time that its host gave to others, *other* that of processes outside the benchmark, the maximum of all rounds; *load* likewise. *Cell s* is the length of a
            measured cell in seconds; it is missing if neither it nor a rate was recorded. Rates from cells of a second or two, and from one or
            two rounds, differ from run to run by more than their range shows. *Compiling* is the time of the compiler threads: a warm JVM has
            none. Percentiles are of the absolute difference to the due time, so that early counts as much as late. **Exactly once** is checked in every cell that delivers: missing, duplicate and early messages are printed there.
            """;

    private final ResultFiles results;

    private final List<Measure> measures;

    public Report(ResultFiles results, List<Measure> measures) {
        this.results = results;
        this.measures = measures;
    }

    /**
     * Writes {@code performance.md}, {@code internals/performance-details.md}, and the
     * plots.
     * @param directory the directory of the documentation
     * @return the first of the pages
     */
    public Path write(Path directory) {
        drawings().values().forEach((all) -> all.forEach((drawing) -> drawing.save(directory.resolve(PLOTS))));
        try {
            Files.createDirectories(directory.resolve(DETAILS).getParent());
            for (Map.Entry<String, String> page : pages().entrySet()) {
                Files.writeString(directory.resolve(page.getKey()), page.getValue());
            }
            return directory.resolve(OVERVIEW);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Returns the text of the pages, by their paths below the documentation. */
    Map<String, String> pages() {
        Map<String, List<Plots.Drawing>> drawings = drawings();
        StringBuilder overview = new StringBuilder(OVERVIEW_HEAD);
        StringBuilder details = new StringBuilder(DETAILS_HEAD);
        appendConditions(overview);
        appendSummary(overview);
        appendGoals(details, (outcome) -> true);
        for (Measure measure : this.measures) {
            this.results.read(measure.name()).ifPresent((result) -> {
                String drawn = drawn(drawings.getOrDefault(measure.name(), List.of()));
                append(details, measure, result, drawn.replace("](", "](../"));
                overview.append(PLOTTED.contains(measure.name()) ? drawn : "");
            });
        }
        overview.append("""

                ## Goals that are not met
                """);
        appendGoals(overview, (outcome) -> outcome.status() == Outcome.Status.NOT_MET);
        Template template = new Template(this.results::read);
        overview.append("\n")
            .append(BOTTLENECKS)
            .append("\n")
            .append(template.fill(resource("partitions-and-nodes.md")));
        details.append("\n").append(template.fill(resource("bottlenecks.md")));
        return Map.of(OVERVIEW, overview.toString(), DETAILS, details.toString());
    }

    private Map<String, List<Plots.Drawing>> drawings() {
        Map<String, List<Plots.Drawing>> drawings = new LinkedHashMap<>();
        for (Measure measure : this.measures) {
            this.results.read(measure.name()).ifPresent((result) -> drawings.put(measure.name(), Plots.of(result)));
        }
        return drawings;
    }

    /** Reads a text that is written by hand. */
    static String resource(String name) {
        try (InputStream text = Report.class.getResourceAsStream(name)) {
            return new String(Objects.requireNonNull(text, name).readAllBytes(), StandardCharsets.UTF_8);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static String drawn(List<Plots.Drawing> drawings) {
        StringBuilder text = new StringBuilder();
        drawings.forEach(
                (drawing) -> text.append("%n![%s](%s/%s)%n".formatted(drawing.title(), PLOTS, drawing.fileName())));
        return text.toString();
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
                String.join(" ", conditions.jvmFlags()), clockOffsetMicros(), totalMinutes())));
    }

    /** Returns the greatest difference of the clocks that a measure has found. */
    private long clockOffsetMicros() {
        return this.measures.stream()
            .flatMap((measure) -> this.results.read(measure.name()).stream())
            .mapToLong((result) -> result.conditions().clockOffsetMicros())
            .max()
            .orElse(0);
    }

    private long totalMinutes() {
        return this.measures.stream()
            .flatMap((measure) -> this.results.read(measure.name()).stream())
            .mapToLong(Result::seconds)
            .sum() / 60;
    }

    /** Counts the goals that are met, by measure. */
    private void appendSummary(StringBuilder text) {
        text.append("""

                ## Goals

                | Measure | Met | Not met | Not measured |
                | --- | ---: | ---: | ---: |
                """);
        List<Goal> goals = Goals.all(this.results::read);
        for (Measure measure : this.measures) {
            List<Outcome> outcomes = goals.stream()
                .filter((goal) -> goal.measure().equals(measure.name()))
                .map((goal) -> goal.evaluate(this.results::read))
                .toList();
            if (!outcomes.isEmpty()) {
                // Only measures with a result have a section to link to.
                String title = this.results.read(measure.name()).isEmpty() ? measure.title()
                        : "[%s](%s#%s)".formatted(measure.title(), DETAILS, anchor(measure.title()));
                text.append("| %s | %d | %d | %d |%n".formatted(title, count(outcomes, Outcome.Status.MET),
                        count(outcomes, Outcome.Status.NOT_MET), count(outcomes, Outcome.Status.NOT_MEASURED)));
            }
        }
    }

    private static long count(List<Outcome> outcomes, Outcome.Status status) {
        return outcomes.stream().filter((outcome) -> outcome.status() == status).count();
    }

    private static String anchor(String title) {
        return title.toLowerCase(Locale.ROOT).replace(' ', '-');
    }

    private void appendGoals(StringBuilder text, Predicate<Outcome> shown) {
        text.append(
                """

                        A quotient or a difference is the median of those of each round. A goal is met if the median of at least five rounds
                        meets it, and the worse quartile is within 5 % of it. Rounds with steal of 2 % and more, or in which other processes
                        used 5 % of the cores and more, do not count. Where the quartiles of a quotient of rates are more than 20 % apart,
                        CPU per message decides. Counts need one round, as do runs that are too long to be repeated.

                        | Measure | Goal | Measured | | Commit | Rounds | Cell s |
                        | --- | --- | --- | --- | --- | ---: | ---: |
                        """);
        for (Goal goal : Goals.all(this.results::read)) {
            Outcome outcome = goal.evaluate(this.results::read);
            if (shown.test(outcome)) {
                String run = outcome.figures().isEmpty() ? " | | "
                        : this.results.read(goal.measure())
                            .map((result) -> run(result, goal.contender()))
                            .orElseThrow();
                text.append("| %s | %s | %s | %s | %s |%n".formatted(goal.measure(), goal.text(), outcome.figures(),
                        outcome.status().text(), run));
            }
        }
    }

    /**
     * The commits, and the number of rounds and the length of the cells of a contender.
     */
    private static String run(Result result, String contender) {
        return "%s | %d | %s".formatted(result.commits(), result.rounds(contender),
                Numbers.range(result.seconds(contender)));
    }

    private static void append(StringBuilder text, Measure measure, Result result, String plots) {
        Conditions conditions = result.conditions();
        text.append("%n## %s%n%n`%s`. %s%n%n".formatted(measure.title(), measure.name(), measure.about()));
        text.append("%s, %s mode, %d %s, %d s, commit %s, CRC %s.%n%n".formatted(result.dates(), conditions.mode(),
                conditions.rounds(), (conditions.rounds() == 1) ? "round" : "rounds", result.seconds(),
                result.commits(), generators(result)));
        new Table(result).append(text);
        text.append(plots);
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

    /** Returns the CRC of each contender, which is also the load generator. */
    private static String generators(Result result) {
        return result.turns()
            .stream()
            .map((turn) -> "%s %s".formatted(turn.contender(),
                    turn.source().contender().isEmpty() ? "not recorded" : turn.source().contender()))
            .distinct()
            .sorted()
            .collect(Collectors.joining(", "));
    }

    /** Prints the cells of a result, with the rounds of a cell in one row. */
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
            text.append(" Delivery | Steal | Other | Load |\n| --- | --- |");
            text.append(" ---: |".repeat(figures.size())).append(" --- | ---: | ---: | ---: |\n");
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
            text.append(" %s | %s %% | %s | %s |%n".formatted(delivery(cells),
                    Numbers.write(cells.stream().mapToDouble((cell) -> cell.weather().stealPercent()).max().orElse(0)),
                    others(cells),
                    Numbers.write(cells.stream().mapToDouble((cell) -> cell.weather().load()).max().orElse(0))));
        }

        private static String others(List<Cell> cells) {
            return cells.stream()
                .map((cell) -> cell.weather().otherPercent())
                .filter(Objects::nonNull)
                .max(Comparator.naturalOrder())
                .map((percent) -> Numbers.write(percent) + " %")
                .orElse("");
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
