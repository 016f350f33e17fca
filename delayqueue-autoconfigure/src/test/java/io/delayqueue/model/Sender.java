package io.delayqueue.model;

import org.jspecify.annotations.Nullable;

/**
 * Who sends, cancels, reschedules and redrives, one call after the other.
 *
 * @param sent how many contents it has sent
 * @param budget what it may do yet
 * @param line its call
 */
record Sender(int sent, Budget budget, @Nullable Line line) {

    Sender with(@Nullable Line line) {
        return new Sender(this.sent, this.budget, line);
    }

    /** How often some things may happen, as there would be no end otherwise. */
    record Budget(int sends, int cancels, int reschedules, int redrives) {

        int of(Op op) {
            return switch (op) {
                case KEEP, AFTER_CURRENT, REPLACE -> this.sends;
                case CANCEL -> this.cancels;
                case RESCHEDULE -> this.reschedules;
                default -> this.redrives;
            };
        }

        Budget without(Op op) {
            return new Budget(this.sends - (op.isSend() ? 1 : 0), this.cancels - ((op == Op.CANCEL) ? 1 : 0),
                    this.reschedules - ((op == Op.RESCHEDULE) ? 1 : 0), this.redrives - ((op == Op.REDRIVE) ? 1 : 0));
        }

    }

}
