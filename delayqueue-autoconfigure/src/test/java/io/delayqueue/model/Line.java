package io.delayqueue.model;

import org.jspecify.annotations.Nullable;

/**
 * A call on its way.
 *
 * @param call the call
 * @param answer the answer on its way back; {@code null} while the store has not seen it
 * @param first what was answered first to a call that is made again
 * @param touched whether something else has changed the store since that
 */
record Line(Call call, @Nullable Answer answer, @Nullable Answer first, boolean touched) {

    static Line of(Call call) {
        return new Line(call, null, null, false);
    }

    Line answered(Answer answer) {
        return new Line(this.call, answer, this.first, this.touched && this.first != null);
    }

    /** The reply was lost, and the connection makes the call again. */
    Line again() {
        return new Line(this.call, null, (this.first != null) ? this.first : this.answer, this.touched);
    }

    Line touch() {
        return this.touched ? this : new Line(this.call, this.answer, this.first, true);
    }

    boolean isUnderWay() {
        return this.answer == null;
    }

}
