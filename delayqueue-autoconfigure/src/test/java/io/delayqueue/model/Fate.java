package io.delayqueue.model;

/**
 * What has become of one content, as somebody sees it who sees all.
 *
 * @param marks what happened to it
 * @param notBefore ticks until a handler may start with it
 * @param failures failures that its holders have recorded
 * @param lapses leases that ran out after a recorded start
 */
record Fate(int marks, int notBefore, int failures, int lapses) {

    static final Fate NONE = new Fate(0, 0, 0, 0);

    /** The store has it. */
    static final int STORED = 1;

    /** The store has turned it away for what it held. */
    static final int KEPT_OUT = 2;

    /** A handler has succeeded with it. */
    static final int HANDLED = 4;

    /** Somebody cancelled it, in time or not. */
    static final int CANCEL_ASKED = 8;

    /** It was replaced, or is to be followed by another after its lease. */
    static final int SUPERSEDED = 16;

    /** Somebody was told that it is cancelled. */
    static final int CANCELLED = 32;

    /** Somebody was told that it will not be retried. */
    static final int LAST_LEASE = 64;

    /** It was acknowledged. */
    static final int FINISHED = 128;

    /** It is a dead letter. */
    static final int DEAD = 256;

    /** Where it is counted how often it began anew, as its send was repeated too late. */
    private static final int LIVES = 1 << 16;

    /** A new life of it. */
    Fate anew() {
        int lives = has(STORED) ? this.marks / LIVES + 1 : 0;
        return new Fate(lives * LIVES + STORED, 0, 0, 0);
    }

    /** How often it may have died. */
    int lives() {
        return this.marks / LIVES + 1;
    }

    /** Whether nothing has happened to it yet. */
    boolean isNew() {
        return this.marks % LIVES == STORED && this.failures + this.lapses == 0;
    }

    boolean has(int mark) {
        return (this.marks & mark) != 0;
    }

    Fate mark(int mark) {
        return has(mark) ? this : new Fate(this.marks | mark, this.notBefore, this.failures, this.lapses);
    }

    Fate dueIn(int ticks) {
        return new Fate(this.marks, ticks, this.failures, this.lapses);
    }

    Fate failed() {
        return new Fate(this.marks, this.notBefore, this.failures + 1, this.lapses);
    }

    Fate lapsed() {
        return new Fate(this.marks, this.notBefore, this.failures, this.lapses + 1);
    }

    Fate later() {
        return (this.notBefore > 0) ? dueIn(this.notBefore - 1) : this;
    }

}
