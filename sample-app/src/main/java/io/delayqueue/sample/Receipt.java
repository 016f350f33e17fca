package io.delayqueue.sample;

import java.math.BigDecimal;

/** Message: mail a receipt. */
record Receipt(String orderId, String item, BigDecimal amount, Simulation simulate) {
}
