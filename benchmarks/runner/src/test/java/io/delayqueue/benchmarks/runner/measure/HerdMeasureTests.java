package io.delayqueue.benchmarks.runner.measure;

import io.delayqueue.benchmarks.runner.result.Figure;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the times of scripts that the measure publishes. */
class HerdMeasureTests {

    private static final String EVALSHA = "latency_percentiles_usec_evalsha:p50=40.191,p99.9=6160.383,p100=24313.855";

    private static final String EVAL = "latency_percentiles_usec_eval:p50=90.111,p99.9=512.255,p100=4095.999";

    private static final String OTHER = "latency_percentiles_usec_info:p50=90.111,p99.9=90000.001,p100=90000.001";

    /**
     * Redis lists its commands in no order, and EVAL is only the first call of a script.
     */
    @Test
    void theTimesOfScriptsAreTheGreatestOfBothCommands() {
        for (String latencies : new String[] { EVALSHA + "\r\n" + EVAL + "\r\n" + OTHER,
                OTHER + "\r\n" + EVAL + "\r\n" + EVALSHA }) {
            Figures figures = new Figures();

            HerdMeasure.addScriptTimes(latencies, figures);

            assertThat(figures.values()).containsEntry(Figure.SCRIPT_P999.name(), 6.16)
                .containsEntry(Figure.SCRIPT_MAX.name(), 24.314);
        }
    }

}
