package io.delayqueue.benchmarks.runner.measure;

import java.util.List;

/** All measures, in the order of the report. */
public final class Measures {

    private static final List<Measure> ALL = List.of(new SendMeasure(), new SendAllMeasure(), new DrainMeasure(),
            new MeteredMeasure(), PacedMeasure.lateness(), PacedMeasure.sustained(), new BacklogMeasure(),
            new MemoryMeasure(), new TenMillionMeasure(), new ByIdMeasure(), new HerdMeasure(), new IdleMeasure(),
            new TenNodesMeasure(), new CrashMeasure(), new CpuMeasure(), new RedisBenchmarkMeasure(),
            new JournalMeasure());

    private Measures() {
    }

    public static List<Measure> all() {
        return ALL;
    }

    public static Measure named(String name) {
        return ALL.stream()
            .filter((measure) -> measure.name().equals(name))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException(
                    "There is no measure '%s', only %s".formatted(name, ALL.stream().map(Measure::name).toList())));
    }

}
