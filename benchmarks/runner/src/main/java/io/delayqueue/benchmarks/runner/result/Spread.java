package io.delayqueue.benchmarks.runner.result;

import java.util.List;

/**
 * A figure over several rounds.
 *
 * @param values one for each round, in any order
 */
public record Spread(List<Double> values) {

    public Spread {
        values = values.stream().sorted().toList();
    }

    public boolean isEmpty() {
        return this.values.isEmpty();
    }

    /** The middle, or the mean of the two in the middle. */
    public double median() {
        int size = this.values.size();
        return (this.values.get((size - 1) / 2) + this.values.get(size / 2)) / 2;
    }

    /** Returns a quantile, interpolated between the two nearest values. */
    public double quantile(double share) {
        double at = share * (this.values.size() - 1);
        int below = (int) at;
        int above = Math.min(below + 1, this.values.size() - 1);
        return this.values.get(below) + (at - below) * (this.values.get(above) - this.values.get(below));
    }

    public double min() {
        return this.values.get(0);
    }

    public double max() {
        return this.values.get(this.values.size() - 1);
    }

}
