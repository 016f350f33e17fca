package io.delayqueue.store;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Which name a mistyped one is taken for. */
class SimilarNamesTests {

    private static final List<String> NAMES = List.of("order-timeout", "orders", "receipt", "billing.reminders", "a");

    @ParameterizedTest
    @CsvSource({ "order-timeuot, order-timeout", "orderTimeout, order-timeout", "order, orders", "recipt, receipt",
            "billing-reminder, billing.reminders", "Receipt, receipt", "b, a" })
    void isTheNearest(String mistyped, String meant) {
        assertThat(SimilarNames.among(NAMES, mistyped)).contains(meant);
    }

    @ParameterizedTest
    @CsvSource({ "invoices", "timeout", "reservation" })
    void isNoneIfAllAreFar(String name) {
        assertThat(SimilarNames.among(NAMES, name)).isEmpty();
    }

    @Test
    void isNotTheNameItself() {
        assertThat(SimilarNames.among(List.of("orders"), "orders")).isEmpty();
    }

}
