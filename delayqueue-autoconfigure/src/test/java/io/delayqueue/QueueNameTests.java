package io.delayqueue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Names that are keys, channels and tags as they stand. */
class QueueNameTests {

    @ParameterizedTest
    @ValueSource(strings = { "a", "Z", "0", "order-timeout", "a.b_c-d" })
    void namesOfTheAllowedCharactersAreTheirText(String name) {
        assertThat(new QueueName(name)).hasToString(name);
    }

    @ParameterizedTest
    @ValueSource(strings = { "", "-a", ".a", "_a", "a b", "a:b", "a{b}", "é", "a\n", "a*" })
    void otherNamesAreRefusedByName(String name) {
        assertThatIllegalArgumentException().isThrownBy(() -> new QueueName(name))
            .withMessageStartingWith("Queue name '")
            .withMessageContaining("is not valid: use 1 to 64 characters");
    }

    @Test
    void aNameHasAtMost64Characters() {
        assertThat(new QueueName("a".repeat(64)).value()).hasSize(64);
        assertThatIllegalArgumentException().isThrownBy(() -> new QueueName("a".repeat(65)));
    }

}
