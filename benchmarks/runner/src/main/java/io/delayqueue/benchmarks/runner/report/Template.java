package io.delayqueue.benchmarks.runner.report;

import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.delayqueue.benchmarks.runner.result.Cell;
import io.delayqueue.benchmarks.runner.result.Figure;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.Spread;
import org.jspecify.annotations.Nullable;

/**
 * Fills the figures of results into text that is written by hand. These placeholders may
 * stand in it; one whose result is missing becomes a dash:
 * <ul>
 * <li><code>{drain|100 B|delayqueue|PER_SECOND}</code>: the median of a figure</li>
 * <li><code>{drain|100 B|delayqueue|PER_SECOND|range}</code>: with minimum and
 * maximum</li>
 * <li><code>{drain|100 B|delayqueue/limit|PER_SECOND}</code>: the median of the quotients
 * of the rounds, with minimum and maximum</li>
 * <li><code>{drain|100 B|redisson|early}</code>: how many of a hundred messages were
 * early</li>
 * <li><code>{drain}</code>: commits, rounds, and the length of the cells of DelayQueue; a
 * line without them is left out</li>
 * </ul>
 */
final class Template {

    private static final Pattern PLACEHOLDER = Pattern.compile("\\{([^{}|]+)(?:\\|([^{}]+))?}");

    private static final String MISSING = "–";

    private final Function<String, Optional<Result>> results;

    Template(Function<String, Optional<Result>> results) {
        this.results = results;
    }

    /** Fills all lines; returns nothing if all rows of a table are left out. */
    String fill(String text) {
        String filled = text.lines()
            .filter((line) -> PLACEHOLDER.matcher(line)
                .results()
                .noneMatch((match) -> match.group(2) == null && this.results.apply(match.group(1)).isEmpty()))
            .map((line) -> fillLine(line) + "\n")
            .collect(Collectors.joining());
        boolean onlyHead = filled.startsWith("|") && filled.lines().count() == 2;
        return onlyHead ? "" : filled;
    }

    private String fillLine(String line) {
        return PLACEHOLDER.matcher(line)
            .replaceAll((match) -> Matcher.quoteReplacement(
                    this.results.apply(match.group(1)).map((result) -> value(result, match.group(2))).orElse(MISSING)));
    }

    private static String value(Result result, @Nullable String path) {
        if (path == null) {
            return run(result);
        }
        String[] parts = path.split("\\|");
        if (parts.length < 3) {
            throw new IllegalArgumentException("A placeholder needs a scenario, a contender and a figure: " + path);
        }
        String scenario = parts[0];
        String[] contenders = parts[1].split("/");
        if (parts[2].equals("early")) {
            return early(result, contenders[0], scenario);
        }
        String figure = Figure.valueOf(parts[2]).name();
        if (contenders.length == 2) {
            Spread ratio = result.ratio(scenario, figure, contenders[0], contenders[1]);
            return ratio.isEmpty() ? MISSING : Numbers.write(ratio);
        }
        Spread spread = result.spread(contenders[0], scenario, figure);
        if (spread.isEmpty()) {
            return MISSING;
        }
        return (parts.length > 3) ? Numbers.write(spread) : Numbers.write(spread.median());
    }

    private static String early(Result result, String contender, String scenario) {
        long early = 0;
        long expected = 0;
        for (Cell cell : result.cells(contender, scenario)) {
            if (cell.delivery() != null) {
                early += cell.delivery().early();
                expected += cell.delivery().expected();
            }
        }
        return (expected == 0) ? MISSING : Numbers.write(100.0 * early / expected);
    }

    private static String run(Result result) {
        long rounds = result.rounds(Goal.OURS);
        String length = Numbers.range(result.seconds(Goal.OURS));
        return "%s: %d %s%s".formatted(result.commits(), rounds, (rounds == 1) ? "round" : "rounds",
                length.isEmpty() ? "" : ", %s s".formatted(length));
    }

}
