package io.delayqueue.sample;

import org.springframework.stereotype.Component;

/** Simulates an external mail server that fails at times. */
@Component
class MailServer {

    private static final int FLAKY_FAILURES = 2;

    private volatile boolean repaired;

    /**
     * Mails a receipt.
     * @param attempt which attempt this is, from 1
     * @throws IllegalStateException if it fails
     */
    void mail(Receipt receipt, int attempt) {
        boolean fails = switch (receipt.simulate()) {
            case NONE -> false;
            case FLAKY_RECEIPT -> attempt <= FLAKY_FAILURES;
            case POISON_RECEIPT -> !this.repaired;
        };
        if (fails) {
            throw new IllegalStateException(
                    "The mail server does not take the receipt of order '%s' (simulated)".formatted(receipt.orderId()));
        }
    }

    boolean isRepaired() {
        return this.repaired;
    }

    void setRepaired(boolean repaired) {
        this.repaired = repaired;
    }

}
