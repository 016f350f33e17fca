package io.delayqueue.benchmarks.runner.measure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.delayqueue.benchmarks.runner.process.Meter;
import io.delayqueue.benchmarks.runner.process.Stage;
import io.delayqueue.benchmarks.runner.process.Variant;
import io.delayqueue.benchmarks.runner.process.Workshop;
import io.delayqueue.benchmarks.runner.result.Cell;
import io.delayqueue.benchmarks.runner.result.Delivery;
import io.delayqueue.benchmarks.runner.result.Weather;
import org.jspecify.annotations.Nullable;

/** The turn of one contender in one round. Collects what is measured. */
public final class Round {

    /** The share of the time that compiler threads may still take, in percent. */
    private static final double COMPILED = 5;

    private static final int LEAST_BURSTS = 2;

    private static final int MOST_BURSTS = 8;

    private final Workshop workshop;

    private final Mode mode;

    private final Variant variant;

    private final int number;

    private final List<Cell> cells;

    public Round(Workshop workshop, Mode mode, Variant variant, int number) {
        this(workshop, mode, variant, number, new ArrayList<>());
    }

    private Round(Workshop workshop, Mode mode, Variant variant, int number, List<Cell> cells) {
        this.workshop = workshop;
        this.mode = mode;
        this.variant = variant;
        this.number = number;
        this.cells = cells;
    }

    /**
     * Returns this turn for a repetition of its cells, which counts as a round of its
     * own.
     */
    Round repetition(int repetition) {
        return new Round(this.workshop, this.mode, this.variant, repetition, this.cells);
    }

    Mode mode() {
        return this.mode;
    }

    /** From 1. Scenarios that take very long are measured in the first round only. */
    int number() {
        return this.number;
    }

    Variant variant() {
        return this.variant;
    }

    Workshop workshop() {
        return this.workshop;
    }

    /** A Redis and one process of the contender. */
    Stage open(String words, String... redisSettings) {
        Stage stage = this.workshop.stage(this.variant, redisSettings);
        try {
            stage.add(words);
            return stage;
        }
        catch (RuntimeException ex) {
            stage.close();
            throw ex;
        }
    }

    /**
     * Warms up a contender: repeats a load until the JVM has compiled the code that it
     * runs.
     * @param load runs for a few seconds, and returns its figure
     * @return the last figure
     */
    <T> T warmUp(Stage stage, Supplier<T> load) {
        return warmUp(stage, load, Duration.ofHours(1));
    }

    /**
     * Warms up a contender for a limited time.
     * @param limit after which the load is not repeated
     */
    <T> T warmUp(Stage stage, Supplier<T> load, Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        T last = load.get();
        for (int i = 1; i < this.mode.pick(1, LEAST_BURSTS + 1, MOST_BURSTS) && System.nanoTime() < end; i++) {
            Meter meter = Meter.start(stage);
            last = load.get();
            if (meter.stop().compilingPercent() < COMPILED && i >= LEAST_BURSTS) {
                break;
            }
        }
        return last;
    }

    void record(Scenario scenario, Figures figures, @Nullable Delivery delivery, Weather weather) {
        record(scenario, figures, delivery, weather, List.of());
    }

    void record(Scenario scenario, Figures figures, @Nullable Delivery delivery, Weather weather, List<String> notes) {
        this.cells.add(new Cell(this.variant.name(), scenario.name(), scenario.size(), this.number, figures.values(),
                delivery, weather, notes));
    }

    /** Returns the cells measured by now. */
    public List<Cell> cells() {
        return this.cells;
    }

    /**
     * Names an action, the same for all contenders.
     *
     * @param name its name in tables
     * @param size its place on the axis of a plot
     */
    record Scenario(String name, double size) {
    }

}
