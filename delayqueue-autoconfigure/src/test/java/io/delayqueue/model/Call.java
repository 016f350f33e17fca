package io.delayqueue.model;

/**
 * A call of a store about the one id of the model.
 *
 * @param op the operation
 * @param content what is sent, from 1, or the content of the letter to redrive; 0 for
 * none
 * @param token that of the lease; of a claim, the one that it gives; of a redrive, that
 * of the letter
 * @param time until it is due, or how long the lease lasts, in ticks
 * @param failed whether a dead letter counts one more failure
 */
record Call(Op op, int content, int token, int time, boolean failed) {

    static Call send(Op op, int content, int delay) {
        return new Call(op, content, 0, delay, false);
    }

    static Call byId(Op op, int time) {
        return new Call(op, 0, 0, time, false);
    }

    static Call claim(int token, int leaseTime) {
        return new Call(Op.CLAIM, 0, token, leaseTime, false);
    }

    static Call byLease(Op op, int token, int time) {
        return new Call(op, 0, token, time, false);
    }

    static Call deadLetter(int token, boolean failed) {
        return new Call(Op.DEAD_LETTER, 0, token, 0, failed);
    }

    static Call redrive(Held.Letter letter) {
        return new Call(Op.REDRIVE, letter.content(), letter.token(), 0, false);
    }

    Call withToken(int token) {
        return new Call(this.op, this.content, token, this.time, this.failed);
    }

    @Override
    public String toString() {
        return this.op + (op().isSend() ? " content " + this.content : "")
                + (op().isFenced() || this.op == Op.REDRIVE ? " token " + this.token : "");
    }

}
