package io.delayqueue.model;

import io.delayqueue.model.Answer.Grant;
import org.jspecify.annotations.Nullable;

/**
 * A worker with room for one message.
 *
 * @param phase what it is about
 * @param lease ticks until its lease ends, by its own clock
 * @param renewed the same, should the renewal that it asked for be granted
 * @param grant the message that it has
 * @param started whether it has recorded the start of a suspect
 * @param line its call
 */
record Worker(Phase phase, int lease, int renewed, @Nullable Grant grant, boolean started, @Nullable Line line) {

    static final Worker IDLE = new Worker(Phase.IDLE, 0, 0, null, false, null);

    Worker with(@Nullable Line line) {
        return new Worker(this.phase, this.lease, this.renewed, this.grant, this.started, line);
    }

    Worker withLease(int lease, int renewed) {
        return new Worker(this.phase, lease, renewed, this.grant, this.started, this.line);
    }

    Worker in(Phase phase) {
        return new Worker(phase, this.lease, this.renewed, this.grant, this.started, this.line);
    }

    Worker later() {
        return (this.lease > 0 || this.renewed > 0)
                ? withLease(Math.max(0, this.lease - 1), Math.max(0, this.renewed - 1)) : this;
    }

    /** Whether it takes the message for its own. */
    boolean isSure() {
        return this.grant != null && this.phase != Phase.IDLE && this.phase != Phase.SETTLING && this.lease > 0;
    }

    enum Phase {

        IDLE,

        /** It has a message, and decides what to do. */
        HOLDING,

        /** The handler runs. */
        RUNNING,

        /** The lease is to be ended. */
        SETTLING

    }

}
