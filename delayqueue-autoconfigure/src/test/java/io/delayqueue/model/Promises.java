package io.delayqueue.model;

import io.delayqueue.model.Answer.Code;
import io.delayqueue.model.Answer.Grant;
import io.delayqueue.model.Held.Attempts;
import io.delayqueue.model.Held.Letter;
import io.delayqueue.model.Held.Message;
import io.delayqueue.model.Held.Next;
import io.delayqueue.model.Held.Place;
import io.delayqueue.model.Held.Suspicion;
import io.delayqueue.model.Ledger.Who;

/**
 * P1 to P11, as far as they are about single states and steps. Goes by the
 * {@link Ledger}, and not by what the store believes.
 */
final class Promises {

    private Promises() {
    }

    private static void require(boolean met, String promise, String otherwise) {
        if (!met) {
            throw new Violation(promise, otherwise);
        }
    }

    /** In every world. */
    static void check(World world) {
        require(!(world.a().isSure() && world.b().isSure()), "P4", "two workers believe that they have the lease");
        Held held = world.store();
        for (int content = 1; content <= world.ledger().fates().size(); content++) {
            Fate fate = world.ledger().fate(content);
            long letters = letters(held, content);
            require(letters <= fate.lives(), "P9", "there are %d letters of content %d".formatted(letters, content));
            boolean there = letters > 0 || held.message() != null && held.message().holds(content);
            require(!fate.has(Fate.STORED) || there || mayBeGone(fate), "P1",
                    "content %d was stored, and is gone".formatted(content));
        }
        Message message = held.message();
        if (message != null) {
            checkCounts(message, world.ledger().fate(message.sent().content()));
        }
    }

    private static long letters(Held held, int content) {
        return held.letters().stream().filter((letter) -> letter.content() == content).count();
    }

    private static boolean mayBeGone(Fate fate) {
        return fate.has(Fate.HANDLED) || fate.has(Fate.CANCEL_ASKED) || fate.has(Fate.SUPERSEDED);
    }

    private static void checkCounts(Message message, Fate fate) {
        Attempts attempts = message.attempts();
        boolean first = fate.isNew() && attempts.suspicion() == Suspicion.NONE;
        require(!first || attempts.failures() + attempts.lapses() == 0, "P10", "a message inherits attempts");
        require(attempts.failures() == fate.failures(), "P9",
                "%d failures are counted, there were %d".formatted(attempts.failures(), fate.failures()));
        require(attempts.lapses() == fate.lapses(), "P9",
                "%d lapses are counted, there were %d".formatted(attempts.lapses(), fate.lapses()));
        require(attempts.failures() <= Moves.MAX_ATTEMPTS, "P9", "it has failed too often");
        require(message.isLeased() || message.next().equals(Next.ATTEMPT), "P10", "something follows no lease");
    }

    /** A handler starts. */
    static void onStart(World world, Who who) {
        Worker worker = world.worker(who);
        Grant grant = worker.grant();
        if (grant == null) {
            throw new IllegalStateException(worker.toString());
        }
        Fate fate = world.ledger().fate(grant.content());
        require(fate.notBefore() == 0, "P2", "a handler starts %d ticks early".formatted(fate.notBefore()));
        require(!fate.has(Fate.CANCELLED), "P6", "a handler starts with what was CANCELLED");
        require(!fate.has(Fate.FINISHED), "P8", "a handler starts with what was acknowledged");
        require(!fate.has(Fate.KEPT_OUT), "P8", "a handler starts with what was not stored");
        require(fate.failures() < Moves.MAX_ATTEMPTS, "P9", "a handler starts after its attempts");
        require(fate.lapses() < Moves.MAX_LAPSES, "P9", "a handler starts after its lapses");
        Ledger ledger = world.ledger();
        require(!world.owns(who) || !ledger.suspect() || ledger.started(), "P9",
                "the start of a suspect is not recorded");
    }

    /** A call arrived. */
    static void onArrival(Arrival arrival, Ledger after) {
        checkFence(arrival);
        checkRepeated(arrival);
        checkRace(arrival);
        Grant grant = arrival.outcome().answer().grant();
        if (grant != null) {
            Fate fate = after.fate(grant.content());
            require(!fate.has(Fate.LAST_LEASE), "P6", "what was cancelled while it was leased is tried again");
            require(fate.notBefore() == 0, "P2", "a claim takes what is not due");
            require(!fate.has(Fate.DEAD), "P9", "a claim takes what is dead");
        }
        if (arrival.op() == Op.REDRIVE && arrival.code() == Code.REDRIVEN) {
            require(arrival.held().letter(arrival.line().call().token()) == null, "P9",
                    "a letter stays though its message is redriven");
        }
        for (Letter letter : arrival.before().store().letters()) {
            require(arrival.op() == Op.REDRIVE || arrival.held().letters().contains(letter), "P9", "a letter is lost");
        }
    }

    /** P5: who has lost the lease changes nothing, and is told. */
    private static void checkFence(Arrival arrival) {
        if (!arrival.op().isFenced() || arrival.isByOwner() || arrival.op() == Op.WRITE_LEASE) {
            return;
        }
        if (!arrival.held().equals(arrival.before().store())) {
            boolean again = arrival.line().first() != null && !arrival.line().touched();
            throw new Violation(again ? "P11" : "P5",
                    "%s of one who has no lease changes the store".formatted(arrival.op()));
        }
        Answer first = arrival.line().first();
        require(arrival.code() == Code.NO || first != null && first.code() == Code.YES, "P5",
                "%s of one who has no lease is answered YES".formatted(arrival.op()));
    }

    /** P11: a call that is made again is the same call. */
    private static void checkRepeated(Arrival arrival) {
        Answer first = arrival.line().first();
        Held before = arrival.before().store();
        if (first == null || !arrival.op().isIdempotent()) {
            return;
        }
        boolean held = arrival.op().isSend() ? arrival.isRepeated(arrival.line().call().content())
                : !arrival.line().touched() && isThere(arrival);
        if (!held) {
            return;
        }
        // A successor that has its turn by now is SCHEDULED, and no more AFTER_CURRENT.
        boolean asBefore = !arrival.line().touched() && StoreModel.SOUND.noticed(before).equals(before);
        require(arrival.code() == first.code() || !asBefore, "P11",
                "the same call is answered %s and then %s".formatted(first.code(), arrival.code()));
        Held expected = StoreModel.SOUND.noticed(before);
        boolean same = arrival.held().equals(before) || arrival.held().equals(expected)
                || arrival.op() == Op.EXTEND && arrival.isByOwner();
        require(same, "P11", "the same call has two effects");
    }

    /** Whether the store holds what the call was about. */
    private static boolean isThere(Arrival arrival) {
        Call call = arrival.line().call();
        Message message = arrival.before().store().message();
        return switch (call.op()) {
            case DEAD_LETTER -> true;
            case REDRIVE -> message != null && message.sent().content() == call.content();
            default -> message != null && message.attempts().token() == call.token();
        };
    }

    /** P7: a sender and a claim do not both win. */
    private static void checkRace(Arrival arrival) {
        Ledger ledger = arrival.before().ledger();
        boolean live = ledger.isLeased() && ledger.lease() > 0;
        switch (arrival.code()) {
            case CANCELLED, RESCHEDULED ->
                require(!live, "P7", "%s is told while there is a lease".formatted(arrival.code()));
            case REPLACED -> require(!live || arrival.line().first() != null, "P7", "REPLACED while there is a lease");
            case LEASED -> require(live, "P7", "LEASED is told while there is no lease");
            case AFTER_CURRENT -> {
                boolean again = arrival.line().first() != null;
                require(live || again, "P7", "AFTER_CURRENT is told while there is no lease");
                boolean cancelled = ledger.fate(arrival.contentBefore()).has(Fate.LAST_LEASE);
                require(arrival.op() != Op.KEEP || again || cancelled, "P8",
                        "a KEEP is stored while the message is being handled");
            }
            case NOT_FOUND -> {
                Message message = StoreModel.SOUND.noticed(arrival.before().store()).message();
                boolean there = message != null && message.place() != Place.NOWHERE;
                require(!there || arrival.op() == Op.REDRIVE, "P7", "NOT_FOUND is told of what is there");
            }
            default -> {
            }
        }
    }

}
