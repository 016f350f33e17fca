package io.delayqueue;

import java.time.Duration;
import java.time.Instant;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/**
 * Tests which messages are rejected before anything is stored, and the exception
 * messages.
 */
class MessageLimitsTests {

    @ParameterizedTest
    @CsvSource({ "PT0S, 0 s", "PT0.000001S, 0.001 ms", "PT0.0015S, 1.5 ms", "PT0.25S, 250 ms", "PT1S, 1 s",
            "PT1.034S, 1.034 s", "PT30S, 30 s", "PT59.9999S, 59.999 s", "PT1M, 1 min", "PT2M30.5S, 2 min 30 s",
            "PT1H, 1 h", "PT1H1M1S, 1 h 1 min", "P1D, 1 d", "P2DT3H4M, 2 d 3 h", "P36500D, 36500 d",
            "PT-1.5S, -1.5 s" })
    void aSpanIsDescribedInWords(Duration span, String words) {
        assertThat(MessageLimits.describe(span)).isEqualTo(words);
    }

    @Test
    void noSpanIsTooLongToBeDescribed() {
        assertThat(MessageLimits.describe(Duration.ofSeconds(Long.MIN_VALUE))).isNotBlank();
        assertThat(MessageLimits.describe(Duration.ofSeconds(Long.MAX_VALUE))).contains(" d");
    }

    @ParameterizedTest
    @ValueSource(strings = { "a", "-", "order:42", "a@b.c/d+e=f~g_h-i", "0" })
    void idsOfTheAllowedCharactersPass(String id) {
        assertThat(MessageLimits.requireId(id)).isSameAs(id);
        assertThat(MessageLimits.requireGroup(id)).isSameAs(id);
    }

    @ParameterizedTest
    @ValueSource(strings = { "", " ", "a b", "a#b", "a{b}", "é", "a\n", "*", "a\u0000", "😀" })
    void otherIdsAreRefusedByName(String id) {
        assertThatIllegalArgumentException().isThrownBy(() -> MessageLimits.requireId(id))
            .withMessageStartingWith("Message id '")
            .withMessageContaining("is not valid: use 1 to 128 characters");
        assertThatIllegalArgumentException().isThrownBy(() -> MessageLimits.requireGroup(id))
            .withMessageStartingWith("Group '")
            .withMessageContaining("is not valid: use 1 to 128 characters");
    }

    @Test
    void anIdHasAtMost128Characters() {
        assertThat(MessageLimits.requireId("a".repeat(128))).hasSize(128);
        assertThatIllegalArgumentException().isThrownBy(() -> MessageLimits.requireId("a".repeat(129)))
            .withMessageContaining("'" + "a".repeat(80) + "...'");
    }

    @Test
    void whatIsQuotedCannotForgeALineOrTurnTheText() {
        assertThat(MessageLimits.quotable("a\nb\u0085c\u2028d\u202Ee\u0000f\uFEFFg")).isEqualTo("a?b?c?d?e?f?g");
        assertThat(MessageLimits.quotable("a".repeat(79) + "😀")).isEqualTo("a".repeat(79) + "?...");
        assertThat(MessageLimits.quotable("é 😀")).isEqualTo("é 😀");
    }

    @Test
    void delaysReachFromZeroToAHundredYears() {
        assertThat(MessageLimits.requireDelay(Duration.ZERO)).isZero();
        assertThat(MessageLimits.requireDelay(MessageLimits.MAX_DURATION)).hasDays(36_500);
        assertThatIllegalArgumentException().isThrownBy(() -> MessageLimits.requireDelay(Duration.ofNanos(-1)))
            .withMessage("Delay -0.000001 ms is not valid: use zero to 36500 days");
        assertThatIllegalArgumentException()
            .isThrownBy(() -> MessageLimits.requireDelay(MessageLimits.MAX_DURATION.plusNanos(1)));
        assertThatIllegalArgumentException()
            .isThrownBy(() -> MessageLimits.requireDelay(Duration.ofSeconds(Long.MAX_VALUE)));
    }

    @Test
    void aMissingSpanIsNamed() {
        assertThatNullPointerException().isThrownBy(() -> MessageLimits.requireNotNegative("Jitter", null))
            .withMessage("Jitter is missing; use Duration.ZERO for none");
    }

    @Test
    void spansThatMustNotBeEmptyAreMoreThanZero() {
        assertThat(MessageLimits.requirePositive("Lease", Duration.ofNanos(1))).hasNanos(1);
        assertThatIllegalArgumentException().isThrownBy(() -> MessageLimits.requirePositive("Lease", Duration.ZERO))
            .withMessage("Lease 0 s is not valid: use more than zero and at most 36500 days");
        assertThatIllegalArgumentException()
            .isThrownBy(() -> MessageLimits.requirePositive("Lease", Duration.ofNanos(-1)));
        assertThatIllegalArgumentException()
            .isThrownBy(() -> MessageLimits.requirePositive("Lease", MessageLimits.MAX_DURATION.plusNanos(1)));
    }

    @Test
    void dueTimesLieBeforeTheYear3000() {
        Instant last = MessageLimits.MAX_DUE_AT.minusNanos(1);

        assertThat(MessageLimits.requireDueAt(last)).isEqualTo(last);
        assertThat(MessageLimits.requireDueAt(Instant.MIN)).isEqualTo(Instant.MIN);
        assertThatIllegalArgumentException().isThrownBy(() -> MessageLimits.requireDueAt(MessageLimits.MAX_DUE_AT))
            .withMessage("Due time 3000-01-01T00:00:00Z is not valid: it must lie before 3000-01-01T00:00:00Z");
        assertThatIllegalArgumentException().isThrownBy(() -> MessageLimits.requireDueAt(Instant.MAX));
    }

    @ParameterizedTest
    @ValueSource(ints = { -1, 10, Integer.MIN_VALUE })
    void prioritiesOutsideTheRangeAreRefused(int priority) {
        assertThatIllegalArgumentException().isThrownBy(() -> MessageLimits.requirePriority(priority))
            .withMessage("Priority " + priority + " is not valid: use 0 (last) to 9 (first)");
    }

}
