package io.delayqueue.sample;

import java.math.BigDecimal;

/**
 * An order as shown.
 *
 * @param leftMillis time left to pay; zero if it is not open
 */
record OrderView(String id, String item, BigDecimal amount, Order.State state, long leftMillis) {
}
