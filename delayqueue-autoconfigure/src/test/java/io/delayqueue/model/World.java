package io.delayqueue.model;

import io.delayqueue.model.Ledger.Who;
import org.jspecify.annotations.Nullable;

/**
 * Everything there is, at one moment. Does not change.
 *
 * @param store what the store holds
 * @param a a worker
 * @param b another
 * @param sender who sends
 * @param rest what is seen by nobody of these
 */
record World(Held store, Worker a, Worker b, Sender sender, Rest rest) {

    /**
     * The rest.
     *
     * @param late a call whose caller does not wait for it any more
     * @param lateOwns whether that comes from the owner of the lease
     * @param faults how many things may go wrong yet
     * @param ledger the history
     */
    record Rest(@Nullable Line late, boolean lateOwns, int faults, Ledger ledger) {

        Rest with(Ledger ledger) {
            return new Rest(this.late, this.lateOwns && ledger.isLeased(), this.faults, ledger);
        }

    }

    static World of(Sender.Budget budget, int faults) {
        return new World(Held.NOTHING, Worker.IDLE, Worker.IDLE, new Sender(0, budget, null),
                new Rest(null, false, faults, Ledger.EMPTY));
    }

    Ledger ledger() {
        return this.rest.ledger;
    }

    Worker worker(Who who) {
        return (who == Who.A) ? this.a : this.b;
    }

    @Nullable Line line(Who who) {
        return switch (who) {
            case A -> this.a.line();
            case B -> this.b.line();
            case SENDER -> this.sender.line();
            default -> this.rest.late;
        };
    }

    World with(Held store) {
        return new World(store, this.a, this.b, this.sender, this.rest);
    }

    World with(Who who, Worker worker) {
        return (who == Who.A) ? new World(this.store, worker, this.b, this.sender, this.rest)
                : new World(this.store, this.a, worker, this.sender, this.rest);
    }

    World with(Sender sender) {
        return new World(this.store, this.a, this.b, sender, this.rest);
    }

    World with(Rest rest) {
        return new World(this.store, this.a, this.b, this.sender, rest);
    }

    World with(Ledger ledger) {
        return with(this.rest.with(ledger));
    }

    World with(Who who, @Nullable Line line) {
        return switch (who) {
            case A, B -> with(who, worker(who).with(line));
            case SENDER -> with(this.sender.with(line));
            default -> with(new Rest(line, line != null && this.rest.lateOwns, this.rest.faults, this.rest.ledger));
        };
    }

    /** Once something has gone wrong. */
    World withFault() {
        return with(new Rest(this.rest.late, this.rest.lateOwns, this.rest.faults - 1, this.rest.ledger));
    }

    /** One tick later, by the clocks of all. */
    World later() {
        return new World(this.store.later(), this.a.later(), this.b.later(), this.sender,
                this.rest.with(this.rest.ledger.later()));
    }

    boolean owns(Who who) {
        return who == ledger().owner() || who == Who.LATE && this.rest.lateOwns;
    }

}
