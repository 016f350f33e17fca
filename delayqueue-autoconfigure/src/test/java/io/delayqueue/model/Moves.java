package io.delayqueue.model;

import java.util.List;

import io.delayqueue.model.Answer.Code;
import io.delayqueue.model.Answer.Grant;
import io.delayqueue.model.Held.Letter;
import io.delayqueue.model.Held.Message;
import io.delayqueue.model.Ledger.Who;
import io.delayqueue.model.StoreModel.Outcome;
import io.delayqueue.model.Worker.Phase;
import org.jspecify.annotations.Nullable;

/**
 * What may happen next in a world. Calls and replies take any time, replies and calls get
 * lost, callers stop waiting, connections make calls again, workers die and come back,
 * and time passes whenever it likes.
 * <p>
 * A call is told apart from its arrival only where somebody counts time from it, or where
 * something goes wrong: to be slow to call is the same as to call slowly. In the same way
 * a reply is heard at once where what comes next may be late anyway.
 */
final class Moves {

    static final List<Who> CALLERS = List.of(Who.A, Who.B, Who.SENDER, Who.LATE);

    static final int LEASE = 2;

    static final int DELAY = 1;

    static final int MAX_ATTEMPTS = 2;

    static final int MAX_LAPSES = 1;

    private static final List<Who> WORKERS = List.of(Who.A, Who.B);

    private final StoreModel store;

    private final Defect defect;

    Moves(Defect defect) {
        this.store = new StoreModel(defect);
        this.defect = defect;
    }

    /**
     * Is told of each world that may be next, and how it comes about. Of what one does,
     * that is told first which is without a fault.
     */
    interface Visitor {

        void accept(Who who, String what, Object detail, World next);

    }

    void from(World world, Visitor visitor) {
        World later = world.later();
        if (!later.equals(world)) {
            visitor.accept(Who.NOBODY, "time passes", "", later);
        }
        for (Who who : CALLERS) {
            Line line = world.line(who);
            if (line != null) {
                onTheWay(world, who, line, visitor);
            }
        }
        for (Who who : WORKERS) {
            work(world, who, visitor);
        }
        if (world.sender().line() == null) {
            send(world, visitor);
        }
    }

    /**
     * The next world if all goes well, the sender rests and every handler succeeds.
     * @return {@code null} if all is done
     */
    @Nullable World onward(World world) {
        World[] next = new World[1];
        Visitor first = (who, what, detail, each) -> next[0] = (next[0] != null) ? next[0] : each;
        for (Who who : CALLERS) {
            Line line = world.line(who);
            if (line != null) {
                onTheWay(world, who, line, first);
                return next[0];
            }
        }
        for (Who who : WORKERS) {
            if (world.worker(who).phase() == Phase.RUNNING) {
                work(world, who, first);
                return next[0];
            }
        }
        Message message = world.store().message();
        if (message == null) {
            return null;
        }
        return (message.time() > 0) ? world.later() : claim(world, Who.A);
    }

    private void onTheWay(World world, Who who, Line line, Visitor visitor) {
        if (!line.isUnderWay()) {
            hear(world, who, line, visitor);
            if (world.rest().faults() > 0) {
                World lost = world.withFault();
                visitor.accept(who, "makes the call again, its reply lost:", line.call(), lost.with(who, line.again()));
                visitor.accept(who, "does not wait for the reply to", line.call(), silence(lost, who));
            }
            return;
        }
        arrive(world, who, line, visitor);
    }

    /** A call is made, and is there or is lost. */
    private void call(World world, Who who, Call call, Visitor visitor) {
        World calling = (who == Who.SENDER) ? world : world.with(who, world.worker(who).in(phaseFor(call)));
        arrive(calling, who, Line.of(call), visitor);
    }

    private static Phase phaseFor(Call call) {
        return switch (call.op()) {
            case START, WRITE_LEASE -> Phase.HOLDING;
            case EXTEND -> Phase.RUNNING;
            default -> Phase.SETTLING;
        };
    }

    /** The store takes a call, or does not. */
    private void arrive(World world, Who who, Line line, Visitor visitor) {
        World arrived = take(world, who, line);
        Line answered = arrived.line(who);
        boolean waits = answered != null && switch (line.call().op()) {
            case CLAIM, START, WRITE_LEASE -> true;
            default -> false;
        };
        visitor.accept(who, "is answered", told(line.call(), answered), waits ? arrived : settled(heard(arrived, who)));
        if (world.rest().faults() == 0 || who == Who.LATE) {
            return;
        }
        if (answered != null && !waits) {
            visitor.accept(who, "makes the call again, its reply lost:", line.call(),
                    arrived.withFault().with(who, answered.again()));
        }
        World lost = world.withFault();
        visitor.accept(who, "does not wait for the lost call", line.call(), silence(lost, who));
        if (world.rest().late() == null) {
            visitor.accept(who, "does not wait for the late call", line.call(),
                    silence(leaveLate(lost, who, line), who));
        }
    }

    private static String told(Call call, @Nullable Line answered) {
        return call + ": " + ((answered != null) ? answered.answer() : "to nobody");
    }

    private static World leaveLate(World world, Who who, Line line) {
        return world.with(new World.Rest(line, world.owns(who), world.rest().faults(), world.ledger()));
    }

    private World take(World world, Who who, Line line) {
        Call call = (line.call().op() == Op.CLAIM) ? line.call().withToken(new Tokens(world).next()) : line.call();
        Outcome outcome = this.store.apply(world.store(), call);
        Line taken = new Line(call, null, line.first(), line.touched());
        Arrival arrival = new Arrival(world, who, taken, outcome);
        Ledger ledger = arrival.ledger();
        World next = world.with(outcome.held()).with(ledger);
        if (!outcome.held().equals(world.store())) {
            for (Who other : CALLERS) {
                Line theirs = next.line(other);
                next = (theirs != null && other != who) ? next.with(other, theirs.touch()) : next;
            }
        }
        Promises.onArrival(arrival, ledger);
        return next.with(who, (who == Who.LATE) ? null : taken.answered(outcome.answer()));
    }

    /** A worker hears what makes it go on. */
    private void hear(World world, Who who, Line line, Visitor visitor) {
        World heard = heard(world, who);
        if (heard.worker(who).phase() == Phase.HOLDING && heard.line(who) == null) {
            decide(heard, who, visitor);
        }
        else {
            visitor.accept(who, "hears", line.answer(), settled(heard));
        }
    }

    /** A caller knows the answer to its call. */
    private World heard(World world, Who who) {
        Line line = world.line(who);
        if (line == null || who == Who.SENDER) {
            return world.with(who, (Line) null);
        }
        Answer answer = line.answer();
        Worker worker = world.worker(who);
        boolean yes = answer != null && answer.code() == Code.YES;
        Worker next = switch (line.call().op()) {
            case CLAIM -> got(worker, answer);
            case WRITE_LEASE -> yes ? worker.with((Line) null) : Worker.IDLE;
            case START -> yes ? new Worker(Phase.HOLDING, worker.lease(), 0, worker.grant(), true, null) : Worker.IDLE;
            case EXTEND -> worker.with((Line) null).withLease(yes ? Math.max(worker.lease(), worker.renewed()) : 0, 0);
            default -> Worker.IDLE;
        };
        return goOn(world, who, next);
    }

    private static World goOn(World world, Who who, Worker next) {
        World gone = (next == Worker.IDLE) ? world.with(world.ledger().ownerIsGone(who)) : world;
        return gone.with(who, next);
    }

    private Worker got(Worker worker, @Nullable Answer answer) {
        Grant grant = (answer != null) ? answer.grant() : null;
        if (grant == null) {
            return Worker.IDLE;
        }
        int lease = (this.defect == Defect.LEASE_COUNTED_FROM_THE_ANSWER) ? LEASE : worker.lease();
        Line line = (this.defect == Defect.CLAIM_IN_TWO_CALLS)
                ? Line.of(Call.byLease(Op.WRITE_LEASE, grant.token(), LEASE)) : null;
        return new Worker(Phase.HOLDING, lease, 0, grant, false, line);
    }

    /** A caller gets no reply, and goes on. */
    private static World silence(World world, Who who) {
        if (who == Who.SENDER) {
            return settled(world.with(who, (Line) null));
        }
        Worker worker = world.worker(who);
        Line line = worker.line();
        boolean goesOn = line != null && line.call().op() == Op.EXTEND;
        // Of its lease it knows what it knew before it asked for more.
        return settled(goOn(world, who, goesOn ? worker.with((Line) null).withLease(worker.lease(), 0) : Worker.IDLE));
    }

    private static World settled(World world) {
        return new Tokens(world).renumber(world);
    }

    private void work(World world, Who who, Visitor visitor) {
        Worker worker = world.worker(who);
        if (worker.line() == null && worker.phase() == Phase.IDLE) {
            if (world.store().message() != null) {
                visitor.accept(who, "claims", "", claim(world, who));
            }
        }
        else if (worker.line() == null) {
            run(world, who, visitor);
        }
        if (world.rest().faults() > 0 && !worker.equals(Worker.IDLE)) {
            visitor.accept(who, "dies", worker, settled(goOn(world.withFault(), who, Worker.IDLE)));
        }
    }

    private static World claim(World world, Who who) {
        return world.with(who, new Worker(Phase.IDLE, LEASE, 0, null, false, Line.of(Call.claim(0, LEASE))));
    }

    /** What a worker does that has a message, or whose start is recorded. */
    private void decide(World world, Who who, Visitor visitor) {
        Worker worker = world.worker(who);
        Grant grant = grant(worker);
        boolean over = grant.failures() >= MAX_ATTEMPTS || grant.lapses() >= MAX_LAPSES;
        if (worker.lease() == 0 && this.defect != Defect.HANDLER_STARTS_AFTER_ITS_LEASE) {
            call(world, who, Call.byLease(Op.RELEASE, grant.token(), 0), visitor);
        }
        else if (over && this.defect != Defect.ATTEMPTS_NEVER_END) {
            call(world, who, Call.deadLetter(grant.token(), false), visitor);
        }
        else if (grant.suspect() && !worker.started() && this.defect != Defect.START_IS_NOT_RECORDED) {
            call(world, who, Call.byLease(Op.START, grant.token(), 0), visitor);
        }
        else {
            Promises.onStart(world, who);
            visitor.accept(who, "starts the handler with", grant, settled(world.with(who, worker.in(Phase.RUNNING))));
        }
    }

    private static Grant grant(Worker worker) {
        Grant grant = worker.grant();
        if (grant == null) {
            throw new IllegalStateException(worker.toString());
        }
        return grant;
    }

    /** How a handler may end, and what may happen before it does. */
    private void run(World world, Who who, Visitor visitor) {
        Worker worker = world.worker(who);
        Grant grant = grant(worker);
        int token = grant.token();
        Ledger ledger = world.ledger().with(grant.content(), (fate) -> fate.mark(Fate.HANDLED));
        call(world.with(ledger), who, Call.byLease(Op.ACKNOWLEDGE, token, 0), visitor);
        boolean last = grant.failures() + 1 >= MAX_ATTEMPTS && this.defect != Defect.ATTEMPTS_NEVER_END;
        call(world, who, last ? Call.deadLetter(token, true) : Call.byLease(Op.RETRY, token, DELAY), visitor);
        if (world.rest().faults() > 0) {
            World rare = world.withFault();
            call(rare, who, Call.byLease(Op.RELEASE, token, DELAY), visitor);
            visitor.accept(who, "asks for more time", grant, rare.with(who,
                    worker.withLease(worker.lease(), LEASE).with(Line.of(Call.byLease(Op.EXTEND, token, LEASE)))));
        }
    }

    private void send(World world, Visitor visitor) {
        int content = world.sender().sent() + 1;
        offer(world, Call.send(Op.KEEP, content, DELAY), visitor);
        if (content > 1) {
            offer(world, Call.send(Op.AFTER_CURRENT, content, DELAY), visitor);
            offer(world, Call.send(Op.REPLACE, content, DELAY), visitor);
            offer(world, Call.byId(Op.CANCEL, 0), visitor);
            offer(world, Call.byId(Op.RESCHEDULE, DELAY), visitor);
        }
        for (Letter letter : world.store().letters()) {
            offer(world, Call.redrive(letter), visitor);
        }
    }

    private void offer(World world, Call call, Visitor visitor) {
        Sender sender = world.sender();
        if (sender.budget().of(call.op()) > 0) {
            World next = world.with(
                    new Sender(sender.sent() + (call.op().isSend() ? 1 : 0), sender.budget().without(call.op()), null));
            Ledger ledger = call.op().isSend() ? next.ledger().with(call.content(), (fate) -> fate) : next.ledger();
            call(next.with(ledger), Who.SENDER, call, visitor);
        }
    }

}
