package io.delayqueue.benchmarks.runner.report;

import java.util.Locale;

import io.delayqueue.benchmarks.runner.result.Spread;

/** How numbers are written: about three digits, and the spread beside the median. */
final class Numbers {

    private Numbers() {
    }

    static String write(double value) {
        double size = Math.abs(value);
        if (value == Math.rint(value) && size < 1e6) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        return String.format(Locale.ROOT, (size >= 100) ? "%,.0f" : (size >= 10) ? "%.1f" : "%.2f", value);
    }

    /** Writes a bound as it was set: 0.25, 1.5, 20. */
    static String bound(double bound) {
        return (bound == Math.rint(bound)) ? String.valueOf(Math.round(bound)) : String.valueOf(bound);
    }

    /** Writes the range from the minimum to the maximum; empty if there is no figure. */
    static String range(Spread spread) {
        if (spread.isEmpty()) {
            return "";
        }
        String least = write(spread.min());
        String greatest = write(spread.max());
        return least.equals(greatest) ? least : least + "–" + greatest;
    }

    static String write(Spread spread) {
        if (spread.isEmpty()) {
            return "";
        }
        return (spread.values().size() == 1) ? write(spread.median())
                : "%s (%s–%s)".formatted(write(spread.median()), write(spread.min()), write(spread.max()));
    }

}
