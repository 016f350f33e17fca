package io.delayqueue.benchmarks.runner.report;

import java.awt.Color;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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

    private static final Map<String, Color> COLORS = Map.ofEntries(Map.entry("timer", new Color(210, 210, 210)),
            Map.entry("timer-ms", new Color(180, 180, 180)), Map.entry("socket", new Color(190, 190, 190)),
            Map.entry("limit", new Color(150, 150, 150)), Map.entry("limit-leased", new Color(110, 110, 110)),
            Map.entry("delayqueue", new Color(31, 119, 180)),
            Map.entry("delayqueue-defaults", new Color(120, 180, 225)), Map.entry("redisson", new Color(240, 120, 120)),
            Map.entry("redisson-tuned", new Color(214, 39, 40)), Map.entry("rqueue", new Color(255, 160, 60)),
            Map.entry("rqueue-tuned", new Color(200, 110, 20)));

    private static final Map<String, List<Plot>> PLOTS = Map.of("send", List.of(bars(Figure.PER_SECOND, false)),
            "sendAll", List.of(bars(Figure.PER_SECOND, false)), "drain",
            List.of(bars(Figure.PER_SECOND, true), bars(Figure.REDIS_MICROS, true)), "lateness",
            List.of(bars(Figure.P99, true)), "sustained",
            List.of(bars(Figure.P99, true), bars(Figure.REDIS_MICROS, true)), "backlog",
            List.of(new Plot(Figure.REDIS_MICROS, true, true)), "byId",
            List.of(new Plot(Figure.REDIS_MICROS, true, true)), "memory", List.of(bars(Figure.BYTES, false)), "cpu",
            List.of(bars(Figure.JVM_MICROS, true)));

    private Plots() {
    }

    private static Plot bars(Figure figure, boolean logarithmic) {
        return new Plot(figure, false, logarithmic);
    }

    /** Makes the charts of a result, which are not drawn yet. */
    static List<Drawing> of(Result result) {
        List<Drawing> drawings = new ArrayList<>();
        for (Plot plot : PLOTS.getOrDefault(result.measure(), List.of())) {
            if (!plot.lines()) {
                String title = "%s, %s".formatted(result.measure(), plot.figure().heading());
                drawings.add(new Drawing(title, "%s-%s.png".formatted(result.measure(), plot.fileName()),
                        bars(result, plot, title)));
                continue;
            }
            for (String group : groups(result)) {
                String title = "%s: %s, %s".formatted(result.measure(), group, plot.figure().heading());
                drawings.add(new Drawing(title,
                        "%s-%s-%s.png".formatted(result.measure(), group.replace(' ', '-'), plot.fileName()),
                        lines(result, plot, group, title)));
            }
        }
        return drawings.stream().filter((drawing) -> !drawing.chart().getSeriesMap().isEmpty()).toList();
    }

    private static List<String> groups(Result result) {
        return result.scenarios().stream().map((name) -> name.replaceFirst(PENDING, "")).distinct().toList();
    }

    private static CategoryChart bars(Result result, Plot plot, String title) {
        CategoryChart chart = new CategoryChartBuilder().width(WIDTH).height(HEIGHT).title(title).build();
        style(chart.getStyler());
        double least = Double.MAX_VALUE;
        List<String> scenarios = result.scenarios()
            .stream()
            .filter((scenario) -> !scenario.equals(Cell.FAILED))
            .toList();
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

    /**
     * Holds a chart.
     *
     * @param title its title
     * @param fileName the name of its file
     */
    record Drawing(String title, String fileName, Chart<?, ?> chart) {

        void save(Path directory) {
            try {
                Files.createDirectories(directory);
                try (OutputStream out = Files.newOutputStream(directory.resolve(this.fileName))) {
                    BitmapEncoder.saveBitmap(this.chart, out, BitmapEncoder.BitmapFormat.PNG);
                }
            }
            catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
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
