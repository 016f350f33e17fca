package io.delayqueue.migrate.jdbc;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Converts expressions of Quartz. Their times are compared with those of Quartz by the
 * tests of the migration.
 */
class QuartzCronConversionTests {

    @ParameterizedTest
    @CsvSource(delimiter = '|',
            value = { "0 0 6 ? * 2-6|0 0 6 * * MON-FRI", "0 0 6 ? * fri-mon *|0 0 6 * * MON,FRI-SUN",
                    "0 0 6 ? * 1|0 0 6 * * SUN", "0 0 6 ? * */2|0 0 6 * * TUE,THU,SAT,SUN", "0 0 6 ? * L|0 0 6 * * SAT",
                    "0 0 6 ? * 6L|0 0 6 * * FRIL", "0 0 6 ? * 1L|0 0 6 * * SUNL", "0 0 6 ? * 6#3|0 0 6 * * FRI#3",
                    "0 0 6 L * ?|0 0 6 L * *", "0 0 6 L-3 * ?|0 0 6 L-3 * *", "0 0 6 LW * ?|0 0 6 LW * *",
                    "0 0 6 15W * ?|0 0 6 15W * *", "0 0 22-2 * * ?|0 0 0-2,22,23 * * *",
                    "0 0 22-2/3 * * ?|0 0 1,22 * * *", "0 0/15 * * NOV-FEB ?|0 */15 * * 1,2,11,12 *",
                    "0 5/20 * 28-3 * ?|0 5/20 * 1-3,28-31 * *", "0 0-30/90 * * * ?|0 0 * * * *",
                    "*/2 * * * 2,4,6 ?|*/2 * * * 2-6/2 *" })
    void theSameTimesAreWrittenInTheFormOfSpring(String quartz, String spring) {
        assertThat(QuartzCron.toSpring(quartz)).isEqualTo(spring);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = { "0 0 6 ? * 2 2030|years", "0 0 6 ? * 2 2024-2030|years", "0 0 6 * * *|'?'",
            "0 0 6 1 * 2|'?'", "0 0 6 ? * ?|'?'", "0 0 6 * *|fields", "0 0 6 31W * ?|nearest weekday",
            "0 0 6 1W * ?|nearest weekday", "0 0 6 1W,15W * ?|days of the month", "0 0 6 L-3W * ?|days of the month",
            "0 0 6 L-28 * ?|short months", "0 0 6 L,5 * ?|days of the month", "0 0 6 ? * 6#3,2|days of the week",
            "0 0 6 ? * 0|days of the week", "0 0 6 ? * 8|days of the week", "0 0 6 ? * MON-6|days of the week",
            "0 0 6 ? * MON/2|days of the week", "0 0 6 ? * MONDAY|days of the week",
            "0 0/60 * * * ?|increment of its minutes", "0 0/0 * * * ?|increment of its minutes", "0 0 24 * * ?|hours",
            "0 0 6 * 0 ?|months", "0 ,5 6 * * ?|minutes" })
    void anyOtherIsRefusedWithTheReason(String quartz, String reason) {
        assertThatIllegalArgumentException().isThrownBy(() -> QuartzCron.toSpring(quartz))
            .withMessageContaining(reason);
    }

}
