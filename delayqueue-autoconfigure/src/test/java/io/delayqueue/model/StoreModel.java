package io.delayqueue.model;

import io.delayqueue.model.Answer.Code;
import io.delayqueue.model.Answer.Grant;
import io.delayqueue.model.Held.Attempts;
import io.delayqueue.model.Held.Letter;
import io.delayqueue.model.Held.Message;
import io.delayqueue.model.Held.Next;
import io.delayqueue.model.Held.Next.Kind;
import io.delayqueue.model.Held.Place;
import io.delayqueue.model.Held.Sent;
import io.delayqueue.model.Held.Suspicion;
import org.jspecify.annotations.Nullable;

/**
 * What a store does with one id, by pure functions: the state table of the documentation
 * as code, with stamps, in ticks instead of time. May have one defect.
 */
record StoreModel(Defect defect) {

    static final StoreModel SOUND = new StoreModel(Defect.NONE);

    /** What a call did. */
    record Outcome(Held held, Answer answer) {
    }

    Outcome apply(Held held, Call call) {
        return switch (call.op()) {
            case KEEP, AFTER_CURRENT, REPLACE -> send(noticed(held), call);
            case CANCEL -> cancel(noticed(held));
            case RESCHEDULE -> reschedule(noticed(held), call);
            case REDRIVE -> redrive(held, call);
            case CLAIM -> claim(has(Defect.LAPSED_LEASES_STAY) ? held : noticed(held), call);
            case WRITE_LEASE -> writeLease(held, call);
            default -> settle(held, call);
        };
    }

    private boolean has(Defect defect) {
        return this.defect == defect;
    }

    /** Once a lease that ran out is ended. */
    Held noticed(Held held) {
        Message message = held.message();
        if (message == null || !message.isLeased() || message.time() > 0) {
            return held;
        }
        if (message.next().kind() != Kind.ATTEMPT) {
            return has(Defect.SUCCESSOR_LOST_AT_A_LAPSE) ? held.with((Message) null) : ended(held, message);
        }
        Attempts before = message.attempts();
        boolean counts = before.suspicion() == Suspicion.STARTED || has(Defect.LAPSE_COUNTS_WITHOUT_A_START);
        Attempts after = new Attempts(before.failures(), before.lapses() + (counts ? 1 : 0), Suspicion.SUSPECT,
                before.token(), false);
        return held.with(message.in(Place.WAITING, 0).with(after));
    }

    /** Without the message, but with its successor. */
    private static Held ended(Held held, Message message) {
        Sent successor = message.next().sent();
        return held.with((successor != null) ? Message.of(successor, message.next().time()) : null);
    }

    private Outcome send(Held held, Call call) {
        Message there = held.message();
        boolean replace = call.op() == Op.REPLACE;
        Sent sent = new Sent(call.content(), call.content(), false);
        if (there == null) {
            return new Outcome(held.with(Message.of(sent, call.time())), Answer.of(Code.SCHEDULED));
        }
        if (there.sent().stamp() == sent.stamp() && !has(Defect.SEND_WITHOUT_STAMP)) {
            return new Outcome(held, Answer.of(there.sent().replaced() ? Code.REPLACED : Code.SCHEDULED));
        }
        if (there.isLeased()) {
            return follow(held, there, sent, call);
        }
        if (!replace && !has(Defect.KEEP_REPLACES)) {
            return new Outcome(held, Answer.of(Code.KEPT));
        }
        Attempts attempts = has(Defect.REPLACEMENT_INHERITS_ATTEMPTS) ? there.attempts()
                : Attempts.NONE.by(there.attempts().token(), false);
        Message fresh = Message.of(new Sent(sent.content(), sent.stamp(), true), call.time()).with(attempts);
        return new Outcome(held.with(fresh), Answer.of(replace ? Code.REPLACED : Code.KEPT));
    }

    private Outcome follow(Held held, Message there, Sent sent, Call call) {
        Sent successor = there.next().sent();
        if (successor != null && successor.stamp() == sent.stamp()) {
            return new Outcome(held, Answer.of(Code.AFTER_CURRENT));
        }
        boolean cancelled = there.next().kind() == Kind.NOTHING;
        boolean keeps = call.op() == Op.KEEP && !cancelled && !has(Defect.KEEP_FOLLOWS);
        if (keeps || successor != null && call.op() != Op.REPLACE) {
            return new Outcome(held, Answer.of(Code.KEPT));
        }
        Next next = has(Defect.SEND_DROPPED_WHILE_LEASED) ? there.next() : Next.successor(sent, call.time());
        return new Outcome(held.with(there.with(next)), Answer.of(Code.AFTER_CURRENT));
    }

    private Outcome cancel(Held held) {
        Message there = held.message();
        if (there == null) {
            return new Outcome(held, Answer.of(Code.NOT_FOUND));
        }
        if (there.isLeased() && !has(Defect.CANCEL_IGNORES_THE_LEASE)) {
            return new Outcome(held.with(there.with(Next.NOTHING)), Answer.of(Code.LEASED));
        }
        return new Outcome(held.with((Message) null), Answer.of(Code.CANCELLED));
    }

    private Outcome reschedule(Held held, Call call) {
        Message there = held.message();
        if (there == null) {
            return new Outcome(held, Answer.of(Code.NOT_FOUND));
        }
        if (there.isLeased() && !has(Defect.RESCHEDULE_IGNORES_THE_LEASE)) {
            return new Outcome(held, Answer.of(Code.LEASED));
        }
        return new Outcome(held.with(there.in(Place.WAITING, call.time())), Answer.of(Code.RESCHEDULED));
    }

    private Outcome redrive(Held held, Call call) {
        Letter letter = held.letter(call.token());
        Message here = held.message();
        Sent redriven = new Sent(call.content(), -call.content(), false);
        if (letter == null) {
            boolean done = here != null && here.sent().equals(redriven);
            return new Outcome(held, Answer.of(done ? Code.REDRIVEN : Code.NOT_FOUND));
        }
        Held noticed = noticed(held);
        if (noticed.message() != null) {
            return new Outcome(noticed, Answer.of(Code.ID_IN_USE));
        }
        Held after = has(Defect.REDRIVE_KEEPS_THE_LETTER) ? noticed : noticed.minus(letter);
        return new Outcome(after.with(Message.of(redriven, 0)), Answer.of(Code.REDRIVEN));
    }

    private Outcome claim(Held held, Call call) {
        Message there = held.message();
        int horizon = has(Defect.CLAIM_LOOKS_AHEAD) ? 1 : 0;
        if (there == null || there.place() != Place.WAITING || there.time() > horizon) {
            return new Outcome(held, Answer.of(Code.NOTHING));
        }
        Attempts before = there.attempts();
        boolean same = has(Defect.LAPSED_LEASE_WITHOUT_LATER_TOKEN) && before.token() > 0;
        int token = same ? before.token() : call.token();
        boolean suspect = before.suspicion() != Suspicion.NONE;
        Place place = has(Defect.CLAIM_IN_TWO_CALLS) ? Place.NOWHERE : Place.LEASED;
        return new Outcome(held.with(there.in(place, call.time()).with(before.by(token, false))), new Answer(Code.GOT,
                new Grant(token, there.sent().content(), before.failures(), before.lapses(), suspect)));
    }

    private static Outcome writeLease(Held held, Call call) {
        Message there = held.message();
        if (there == null || there.place() != Place.NOWHERE) {
            return new Outcome(held, Answer.NO);
        }
        return new Outcome(held.with(there.in(Place.LEASED, call.time())), Answer.YES);
    }

    /** What only the holder of the lease may do. */
    private Outcome settle(Held held, Call call) {
        Message there = heldBy(held, call);
        if (there == null) {
            return refused(held, call);
        }
        Attempts attempts = there.attempts();
        return switch (call.op()) {
            case START -> done(held.with(there.with(attempts.with(Suspicion.STARTED))));
            case EXTEND -> done(held.with(there.in(Place.LEASED, Math.max(there.time(), call.time()))));
            case ACKNOWLEDGE -> done(has(Defect.ACKNOWLEDGED_MESSAGE_COMES_BACK) ? held.with(there.in(Place.WAITING, 1))
                    : ended(held, there));
            case RETRY -> giveBack(held, there, call,
                    new Attempts(attempts.failures() + 1, attempts.lapses(), Suspicion.NONE, attempts.token(), true));
            case RELEASE -> giveBack(held, there, call, attempts.by(attempts.token(), true)
                .with((attempts.suspicion() == Suspicion.STARTED) ? Suspicion.NONE : attempts.suspicion()));
            case DEAD_LETTER -> deadLetter(held, there, call);
            default -> throw new IllegalArgumentException(call.toString());
        };
    }

    private @Nullable Message heldBy(Held held, Call call) {
        Message there = held.message();
        if (there == null) {
            return null;
        }
        boolean unfenced = call.op() == Op.ACKNOWLEDGE && has(Defect.ACKNOWLEDGE_WITHOUT_TOKEN)
                || call.op() == Op.RETRY && has(Defect.RETRY_WITHOUT_TOKEN)
                || call.op() == Op.EXTEND && has(Defect.EXTEND_WITHOUT_TOKEN);
        boolean again = call.op() == Op.RETRY && has(Defect.RETRY_COUNTS_TWICE_WHEN_REPEATED);
        boolean there1 = there.isLeased() || again && there.attempts().givenBack();
        return (there1 && (unfenced || there.attempts().token() == call.token())) ? there : null;
    }

    /** Refused, unless it is a call that is repeated. */
    private static Outcome refused(Held held, Call call) {
        Message there = held.message();
        return new Outcome(held, Answer.of(switch (call.op()) {
            case RETRY, RELEASE -> there != null && there.place() == Place.WAITING && there.attempts().givenBack()
                    && there.attempts().token() == call.token();
            case DEAD_LETTER -> held.letter(call.token()) != null;
            default -> false;
        }));
    }

    private Outcome giveBack(Held held, Message there, Call call, Attempts attempts) {
        boolean retry = call.op() == Op.RETRY && has(Defect.RETRY_IGNORES_A_CANCEL)
                && there.next().kind() == Kind.NOTHING;
        if (there.next().kind() != Kind.ATTEMPT && !retry) {
            return done(ended(held, there));
        }
        return done(held.with(there.in(Place.WAITING, call.time()).with(attempts).with(Next.ATTEMPT)));
    }

    private Outcome deadLetter(Held held, Message there, Call call) {
        Attempts attempts = there.attempts();
        Held buried = held.plus(new Letter(call.token(), there.sent().content(),
                attempts.failures() + (call.failed() ? 1 : 0), attempts.lapses()));
        if (has(Defect.DEAD_LETTER_KEEPS_THE_MESSAGE)) {
            return done(buried.with(there.in(Place.WAITING, 1)));
        }
        return done(has(Defect.SUCCESSOR_LOST_AT_A_DEAD_LETTER) ? buried.with((Message) null) : ended(buried, there));
    }

    private static Outcome done(Held held) {
        return new Outcome(held, Answer.YES);
    }

}
