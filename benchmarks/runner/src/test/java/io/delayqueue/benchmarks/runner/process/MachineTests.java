package io.delayqueue.benchmarks.runner.process;

import io.delayqueue.benchmarks.runner.process.Machine.Cores;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Other processes of the machine are recognized by what the benchmark did not use. */
class MachineTests {

    private static final Cores BEFORE = new Cores(1000, 100, 400);

    @Test
    void othersUsedWhatIsNeitherIdleNorStolenNorOwn() {
        Cores after = new Cores(1200, 110, 440); // 150 ticks busy

        assertThat(after.otherPercentSince(BEFORE, 1_000_000)).isEqualTo(25);
        assertThat(after.otherPercentSince(BEFORE, 1_500_000)).isZero();
    }

    @Test
    void anInexactClockOfProcessesMakesNoNegativeShare() {
        assertThat(new Cores(1200, 110, 440).otherPercentSince(BEFORE, 1_600_000)).isZero();
        assertThat(BEFORE.otherPercentSince(BEFORE, 0)).isZero();
    }

    @Test
    void theTimeOfAProcessIsThatOfLinux() {
        assertThat(Machine.cpuMicros(ProcessHandle.current().pid())).isPositive();
        assertThat(Machine.cpuMicros(Long.MAX_VALUE)).isZero();
    }

}
