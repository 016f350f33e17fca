package io.delayqueue.migrate.cli;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Estimates the time of a copy. */
class PlanCommandTests {

    @Test
    void theEstimateIsThatOfTheGivenRate() {
        assertThat(PlanCommand.estimate(6_100, 100)).isEqualTo("6,100 entries take about 1 min 2 s at 100 per second");
        assertThat(PlanCommand.estimate(0, 100)).isEqualTo("0 entries take about 0 min 1 s at 100 per second");
    }

    @Test
    void withoutARateTheUsualOneIsNamed() {
        long waiting = 90L * PlanCommand.USUAL_RATE;

        assertThat(PlanCommand.estimate(waiting, 0)).contains("about 1 min 31 s")
            .endsWith("at %,d per second".formatted(PlanCommand.USUAL_RATE));
    }

}
