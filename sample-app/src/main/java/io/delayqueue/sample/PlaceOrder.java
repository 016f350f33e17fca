package io.delayqueue.sample;

import java.math.BigDecimal;

import org.jspecify.annotations.Nullable;

/**
 * A request for an order.
 *
 * @param item what is ordered, 1 to 80 characters
 * @param amount the price, 0.01 to 100000
 * @param simulate what shall go wrong; nothing if left out
 */
record PlaceOrder(@Nullable String item, @Nullable BigDecimal amount, @Nullable Simulation simulate) {

    private static final int MAX_ITEM = 80;

    private static final BigDecimal MAX_AMOUNT = new BigDecimal(100_000);

    String validItem() {
        if (this.item == null || this.item.isBlank() || this.item.length() > MAX_ITEM
                || this.item.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException(
                    "'item' is not valid: use 1 to %d characters, on one line".formatted(MAX_ITEM));
        }
        return this.item.strip();
    }

    BigDecimal validAmount() {
        if (this.amount == null || this.amount.signum() <= 0 || this.amount.compareTo(MAX_AMOUNT) > 0
                || this.amount.scale() > 2) {
            throw new IllegalArgumentException(
                    "'amount' is not valid: use 0.01 to %s, with at most two decimals".formatted(MAX_AMOUNT));
        }
        return this.amount.setScale(2);
    }

    Simulation simulation() {
        return (this.simulate != null) ? this.simulate : Simulation.NONE;
    }

}
