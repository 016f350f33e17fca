package io.delayqueue;

import java.time.Instant;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class CauseGroupTests {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            no such order 42 | no such order #
            took 1.5 s of 3,000 | took # s of #
            order-42b is gone | order-#b is gone
            id 123e4567-e89b-12d3-a456-426614174000 | id #
            at deadbeef01 | at #
            the facade is added | the facade is added
            """)
    void replacesNumbersAndIdentifiers(String cause, String text) {
        assertThat(CauseGroup.of(cause + "\n\tat com.example.Line42").text()).isEqualTo(text);
    }

    @Test
    void differsByMessageOrByType() {
        CauseGroup one = CauseGroup.of("java.lang.IllegalStateException: no order 1");

        assertThat(CauseGroup.of("java.lang.IllegalStateException: no order 2")).isEqualTo(one);
        assertThat(CauseGroup.of("java.lang.IllegalStateException: no customer 1").key()).isNotEqualTo(one.key());
        assertThat(CauseGroup.ofType("java.lang.IllegalStateException: no order 1"))
            .isEqualTo(CauseGroup.ofType("java.lang.IllegalStateException: no customer 1"));
        assertThat(CauseGroup.ofType("java.lang.IllegalStateException: secret").text()).doesNotContain("secret");
        assertThat(CauseGroup.ofType("whatever a consumer wrote").text()).isEqualTo("(masked)");
        assertThat(CauseGroup.isKey(one.key())).isTrue();
        assertThat(CauseGroup.isOfType(one.key())).isFalse();
    }

    /** Groups are counted by first lines, and filters compare whole causes. */
    @ParameterizedTest
    @ValueSource(strings = { "expired", "The handler gave no reason", "java.lang.IllegalStateException", "no type" })
    void aGroupOfATypeContainsCausesOfMoreLines(String line) {
        CauseGroup group = CauseGroup.ofType(line);

        assertThat(CauseGroup.contains(group.key(), line + "\n\tat com.example.Shop")).isTrue();
        assertThat(CauseGroup.ofType(line + "\ncard 4111").text()).isEqualTo(group.text());
    }

    @Test
    void comparesTheBeginningOfALongLine() {
        String line = "x".repeat(CauseGroup.MAX_LENGTH);

        assertThat(CauseGroup.of(line + "a")).isEqualTo(CauseGroup.of(line + "b"));
    }

    @Test
    void filtersDeadLetters() {
        DeadLetter deadLetter = new DeadLetter("q", "1~1", "1", null, Instant.EPOCH, Instant.EPOCH, 1, 0,
                "java.lang.IllegalStateException: no order 1\n\tat x", null, null, Map.of());

        assertThat(
                DeadLetterFilter.ALL.withCauseGroup(CauseGroup.of("java.lang.IllegalStateException: no order 2").key())
                    .matches(deadLetter))
            .isTrue();
        assertThat(DeadLetterFilter.ALL.withCauseGroup(CauseGroup.ofType("java.lang.IllegalStateException").key())
            .matches(deadLetter)).isTrue();
        assertThat(DeadLetterFilter.ALL.withCauseGroup(CauseGroup.of("other").key()).matches(deadLetter)).isFalse();
    }

}
