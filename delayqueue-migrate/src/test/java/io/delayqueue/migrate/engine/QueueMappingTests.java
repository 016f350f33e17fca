package io.delayqueue.migrate.engine;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Maps names of queues. */
class QueueMappingTests {

    @Test
    void withoutRulesEachQueueKeepsItsName() {
        assertThat(QueueMapping.of(List.of()).target("orders")).contains("orders");
    }

    @Test
    void theFirstRuleThatMatchesCounts() {
        QueueMapping mapping = QueueMapping.of(List.of("shop:orders=order-timeout", "shop:*=shop-*", "a=b=c"));

        assertThat(mapping.target("shop:orders")).contains("order-timeout");
        assertThat(mapping.target("shop:mails.v2")).contains("shop-mails.v2");
        assertThat(mapping.target("a=b")).contains("c");
        assertThat(mapping.target("stock")).isEmpty();
        assertThat(mapping.names()).containsExactly("shop:orders", "a=b");
    }

    @Test
    void aNameThatIsNotValidHereIsRejectedWithTheRule() {
        assertThatIllegalArgumentException().isThrownBy(() -> QueueMapping.of(List.of()).target("shop:orders"))
            .withMessageContaining("'shop:orders'")
            .withMessageContaining("use 1 to 64 characters")
            .withMessageContaining("--queue='shop:orders=valid-name'");
    }

    @ParameterizedTest
    @ValueSource(strings = { "", "=", "a=", "=b", "*=*-*", "a*b*=c", "a=b*" })
    void aRuleThatIsNotValidIsRejected(String rule) {
        assertThatIllegalArgumentException().isThrownBy(() -> QueueMapping.of(List.of(rule)))
            .withMessageContaining("--queue='" + rule + "' is not valid");
    }

}
