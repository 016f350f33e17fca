package io.delayqueue.model;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The history, as far as promises are about it: what somebody writes down who sees every
 * call arrive at the store, and knows nothing of tokens. Does not change.
 *
 * @param fates of each content, from 1
 * @param owner who got the message by the last claim, until its lease has ended
 * @param lease ticks until the end of that lease
 * @param started whether a start was recorded in it
 * @param suspect whether the lease before ran out
 */
record Ledger(List<Fate> fates, Who owner, int lease, boolean started, boolean suspect) {

    static final Ledger EMPTY = new Ledger(List.of(), Who.NOBODY, 0, false, false);

    enum Who {

        A, B, SENDER,

        /** A call whose caller has gone, or does not wait any more. */
        LATE, NOBODY,

        /** The owner is no more. */
        GONE

    }

    Fate fate(int content) {
        return this.fates.get(content - 1);
    }

    Ledger with(int content, UnaryOperator<Fate> change) {
        List<Fate> changed = new ArrayList<>(this.fates);
        while (changed.size() < content) {
            changed.add(Fate.NONE);
        }
        changed.set(content - 1, change.apply(changed.get(content - 1)));
        return new Ledger(List.copyOf(changed), this.owner, this.lease, this.started, this.suspect);
    }

    Ledger ownedBy(Who owner, int lease) {
        return new Ledger(this.fates, owner, lease, false, this.suspect);
    }

    Ledger ownerIsGone(Who owner) {
        return (this.owner == owner) ? new Ledger(this.fates, Who.GONE, this.lease, this.started, this.suspect) : this;
    }

    Ledger extended(int lease) {
        return new Ledger(this.fates, this.owner, Math.max(this.lease, lease), this.started, this.suspect);
    }

    Ledger withStart() {
        return new Ledger(this.fates, this.owner, this.lease, true, this.suspect);
    }

    /** The lease has ended. */
    Ledger released(boolean suspect) {
        return new Ledger(this.fates, Who.NOBODY, 0, false, suspect);
    }

    boolean isLeased() {
        return this.owner != Who.NOBODY;
    }

    Ledger later() {
        return new Ledger(this.fates.stream().map(Fate::later).toList(), this.owner, Math.max(0, this.lease - 1),
                this.started, this.suspect);
    }

}
