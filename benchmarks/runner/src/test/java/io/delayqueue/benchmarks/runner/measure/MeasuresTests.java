package io.delayqueue.benchmarks.runner.measure;

import java.util.Set;
import java.util.stream.Collectors;

import io.delayqueue.benchmarks.runner.process.Variant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/** No peer takes part only as it comes, or only tuned, where both differ. */
class MeasuresTests {

    @ParameterizedTest
    @MethodSource("io.delayqueue.benchmarks.runner.measure.Measures#all")
    void rqueueTakesPartTunedAndAsItComes(Measure measure) {
        Set<String> names = measure.variants(Mode.FULL)
            .stream()
            .filter(Variant::isRqueue)
            .map(Variant::name)
            .collect(Collectors.toSet());

        assertThat(names).isIn(Set.of(), Set.of("rqueue", "rqueue-tuned"));
    }

}
