package io.delayqueue.store;

import io.delayqueue.fixtures.model.Defect;
import io.delayqueue.fixtures.model.SenderState.Budget;
import io.delayqueue.fixtures.model.StateExplorer;
import io.delayqueue.fixtures.model.StateExplorer.Report;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * P1 to P11 in every interleaving of two workers, a sender and one message, as far as the
 * budgets go; and a model with a defect breaks the promise that one should think.
 */
@Tag("long")
class ModelTests {

    private static final int ENOUGH = 200_000;

    /** The worlds in which a defect is searched, the smallest first. */
    private static final Budget[] BUDGETS = { new Budget(1, 0, 0, 0), new Budget(1, 1, 1, 1), new Budget(2, 0, 0, 0),
            new Budget(2, 1, 1, 1) };

    @ParameterizedTest
    @CsvSource(textBlock = """
            # sends, cancels, reschedules, redrives, faults
            1, 1, 0, 0, 0
            1, 0, 1, 0, 0
            1, 0, 0, 1, 0
            1, 0, 0, 0, 1
            """)
    void everyInterleavingKeepsThePromises(int sends, int cancels, int reschedules, int redrives, int faults) {
        Report report = explore(new Budget(sends, cancels, reschedules, redrives), faults, ENOUGH);

        assertThat(report.violation()).as(report.toString()).isNull();
        assertThat(report.all()).as(report.toString()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            2, 0, 0, 0, 0
            2, 1, 1, 1, 1
            """)
    void theNearestWorldsOfMoreKeepThePromises(int sends, int cancels, int reschedules, int redrives, int faults) {
        Report report = explore(new Budget(sends, cancels, reschedules, redrives), faults, 20_000);

        assertThat(report.violation()).as(report.toString()).isNull();
    }

    /** As far as memory goes: about a kilobyte for each world. */
    @ParameterizedTest
    @EnabledIfSystemProperty(named = "dq.model.worlds", matches = "\\d+")
    @CsvSource(textBlock = """
            2, 0, 0, 0, 0
            2, 1, 0, 0, 0
            2, 1, 1, 1, 0
            1, 1, 0, 0, 1
            1, 0, 1, 0, 1
            1, 0, 0, 1, 1
            2, 0, 0, 0, 1
            2, 1, 1, 1, 1
            1, 0, 0, 0, 2
            2, 1, 1, 1, 2
            """)
    void moreWorldsKeepThePromises(int sends, int cancels, int reschedules, int redrives, int faults) {
        Report report = explore(new Budget(sends, cancels, reschedules, redrives), faults,
                Integer.getInteger("dq.model.worlds"));

        assertThat(report.violation()).as(report.toString()).isNull();
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "NONE")
    void breaksAPromiseBy(Defect defect) {
        for (Budget budget : BUDGETS) {
            for (int faults = 0; faults < 2; faults++) {
                Report report = new StateExplorer(defect, 5_000).explore(budget, faults);
                if (report.violation() != null) {
                    System.out.println(defect + ": " + report);
                    assertThat(report.violation().promise()).as(report.toString()).isEqualTo(defect.promise());
                    return;
                }
            }
        }
        fail("Nobody notices %s", defect);
    }

    @Test
    void reportsTheShortestTraceToAViolation() {
        Report report = new StateExplorer(Defect.CANCEL_IGNORES_THE_LEASE, 10_000).explore(new Budget(1, 1, 0, 0), 0);

        assertThat(report.trace()).hasSize(5)
            .startsWith("SENDER  is answered KEEP content 1: SCHEDULED", "time passes", "A       claims")
            .last()
            .asString()
            .contains("place=LEASED");
    }

    private static Report explore(Budget budget, int faults, int most) {
        Report report = new StateExplorer(Defect.NONE, most).explore(budget, faults);
        System.out.printf("%s, %d faults: %s%n", budget, faults, report);
        return report;
    }

}
