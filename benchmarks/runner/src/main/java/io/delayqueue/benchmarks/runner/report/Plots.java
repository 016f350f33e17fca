package io.delayqueue.benchmarks.runner.report;

import java.awt.Color;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.delayqueue.benchmarks.runner.result.Cell;
import io.delayqueue.benchmarks.runner.result.Figure;
import io.delayqueue.benchmarks.runner.result.Result;
import io.delayqueue.benchmarks.runner.result.Spread;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.Styler;

/** Draws results: bars by scenario, or lines by the number of messages that wait. */
final class Plots {

    private static final int WIDTH = 900;

    private static final int HEIGHT = 420;

    private static final String PENDING = "(?:, )?[0-9,]+ pending$";

    private static final Map<String, Color> COLORS = Map.of("limit", new Color(150, 150, 150), "delayqueue",
            new Color(31, 119, 180), "delayqueue-defaults", new Color(120, 180, 225), "redisson",
            new Color(214, 39, 40), "rqueue", new Color(255, 160, 60), "rqueue-tuned", new Color(200, 110, 20));

    private static final Map<String, List<Plot>> PLOTS = Map.of("send", List.of(bars(Figure.PER_SECOND, false)),
            "sendAll", List.of(bars(Figure.PER_SECOND, false)), "drain",
            List.of(bars(Figure.PER_SECOND, true), bars(Figure.REDIS_MICROS, true)), "lateness",
            List.of(bars(Figure.P99, true)), "sustained",
            List.of(bars(Figure.P99, true), bars(Figure.REDIS_MICROS, true)), "backlog",
            List.of(new Plot(Figure.REDIS_MICROS, true, true)), "byId",
            List.of(new Plot(Figure.REDIS_MICROS, true, true)), "memory", List.of(bars(Figure.BYTES, false)), "cpu",
            List.of(bars(Figure.JVM_MICROS, true)));

    private final Path directory;

    Plots(Path directory) {
        this.directory = directory;
    }

    private static Plot bars(Figure figure, boolean logarithmic) {
        return new Plot(figure, false, logarithmic);
    }

    /** Draws what there is to draw of a result; the files, by title. */
    Map<String, Path> draw(Result result) {
        Map<String, Path> files = new LinkedHashMap<>();
        for (Plot plot : PLOTS.getOrDefault(result.measure(), List.of())) {
            if (!plot.lines()) {
                String title = "%s, %s".formatted(result.measure(), plot.figure().heading());
                save(bars(result, plot, title), "%s-%s".formatted(result.measure(), plot.fileName()), title, files);
                continue;
            }
            for (String group : groups(result)) {
                String title = "%s: %s, %s".formatted(result.measure(), group, plot.figure().heading());
                save(lines(result, plot, group, title),
                        "%s-%s-%s".formatted(result.measure(), group.replace(' ', '-'), plot.fileName()), title, files);
            }
        }
        return files;
    }

    private static List<String> groups(Result result) {
        return result.scenarios().stream().map((name) -> name.replaceFirst(PENDING, "")).distinct().toList();
    }

    private static CategoryChart bars(Result result, Plot plot, String title) {
        CategoryChart chart = new CategoryChartBuilder().width(WIDTH).height(HEIGHT).title(title).build();
        style(chart.getStyler());
        double least = Double.MAX_VALUE;
        List<String> scenarios = result.scenarios().stream().filter((scenario) -> !scenario.equals("failed")).toList();
        for (String contender : contenders(result)) {
            List<Double> heights = new ArrayList<>();
            for (String scenario : scenarios) {
                Spread spread = result.spread(contender, scenario, plot.figure().name());
                heights.add(spread.isEmpty() ? null : spread.median());
                least = (spread.isEmpty() || spread.median() <= 0) ? least : Math.min(least, spread.median());
            }
            if (heights.stream().anyMatch((height) -> height != null && height > 0)) {
                chart.addSeries(contender, scenarios, heights).setFillColor(color(contender));
            }
        }
        if (plot.logarithmic()) {
            chart.getStyler().setYAxisLogarithmic(true);
            chart.getStyler().setYAxisMin(Math.pow(10, Math.floor(Math.log10(least / 2)))); // bars
                                                                                            // begin
                                                                                            // at
                                                                                            // zero
                                                                                            // else
        }
        return chart;
    }

    private static XYChart lines(Result result, Plot plot, String group, String title) {
        XYChart chart = new XYChartBuilder().width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle("messages pending")
            .build();
        chart.getStyler().setXAxisLogarithmic(true);
        chart.getStyler().setYAxisLogarithmic(plot.logarithmic());
        style(chart.getStyler());
        for (String contender : contenders(result)) {
            List<Double> sizes = new ArrayList<>();
            List<Double> heights = new ArrayList<>();
            for (String scenario : result.scenarios()) {
                Spread spread = result.spread(contender, scenario, plot.figure().name());
                if (scenario.replaceFirst(PENDING, "").equals(group) && !spread.isEmpty() && spread.median() > 0) {
                    sizes.add(result.cells(contender, scenario).get(0).size());
                    heights.add(spread.median());
                }
            }
            if (!sizes.isEmpty()) {
                XYSeries series = chart.addSeries(contender, sizes, heights);
                series.setLineColor(color(contender));
                series.setMarkerColor(color(contender));
            }
        }
        return chart;
    }

    private static List<String> contenders(Result result) {
        return result.cells()
            .stream()
            .map(Cell::scenario)
            .distinct()
            .flatMap((scenario) -> result.contenders(scenario).stream())
            .distinct()
            .toList();
    }

    private static Color color(String contender) {
        return COLORS.getOrDefault(contender, Color.BLACK);
    }

    private static void style(Styler styler) {
        styler.setLegendPosition(Styler.LegendPosition.OutsideE);
        styler.setChartBackgroundColor(Color.WHITE);
    }

    private void save(Chart<?, ?> chart, String name, String title, Map<String, Path> files) {
        if (chart.getSeriesMap().isEmpty()) {
            return;
        }
        Path file = this.directory.resolve(name + ".png");
        try {
            Files.createDirectories(this.directory);
            try (OutputStream out = Files.newOutputStream(file)) {
                BitmapEncoder.saveBitmap(chart, out, BitmapEncoder.BitmapFormat.PNG);
            }
            files.put(title, file);
        }
        catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /**
     * Selects the figure of a plot, and its form.
     *
     * @param figure the height
     * @param lines lines over the messages pending, or else bars
     * @param logarithmic whether the axis is logarithmic
     */
    private record Plot(Figure figure, boolean lines, boolean logarithmic) {

        String fileName() {
            return this.figure.name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

    }

}
