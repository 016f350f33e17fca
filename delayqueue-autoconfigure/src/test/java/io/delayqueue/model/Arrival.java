package io.delayqueue.model;

import io.delayqueue.model.Answer.Code;
import io.delayqueue.model.Answer.Grant;
import io.delayqueue.model.Held.Letter;
import io.delayqueue.model.Held.Message;
import io.delayqueue.model.Ledger.Who;
import io.delayqueue.model.StoreModel.Outcome;

/**
 * A call arrived at the store.
 *
 * @param before the world until then
 * @param who called
 * @param line the call
 * @param outcome what the store did
 */
record Arrival(World before, Who who, Line line, Outcome outcome) {

    Op op() {
        return this.line.call().op();
    }

    Code code() {
        return this.outcome.answer().code();
    }

    Held held() {
        return this.outcome.held();
    }

    boolean isByOwner() {
        return this.before.owns(this.who);
    }

    /**
     * The content that the store held before, its lease that ran out ended; 0 for none.
     */
    int contentBefore() {
        Message message = this.before.store().message();
        return (message != null) ? message.sent().content() : 0;
    }

    int contentAfter() {
        Message message = held().message();
        return (message != null) ? message.sent().content() : 0;
    }

    /** The history with this in it. */
    Ledger ledger() {
        Ledger ledger = effect(endOfLease(this.before.ledger()));
        boolean another = contentAfter() != contentBefore() && !ledger.isLeased();
        return another ? ledger.released(false) : ledger;
    }

    private Ledger effect(Ledger ledger) {
        return switch (op()) {
            case KEEP, AFTER_CURRENT, REPLACE -> sent(ledger);
            case CANCEL -> cancelled(ledger);
            case RESCHEDULE -> (code() == Code.RESCHEDULED)
                    ? ledger.with(contentAfter(), (fate) -> fate.dueIn(this.line.call().time())) : ledger;
            case REDRIVE -> redriven(ledger);
            case CLAIM -> claimed(ledger);
            default -> (isByOwner() && code() == Code.YES) ? settled(ledger) : ledger;
        };
    }

    /** A lease ends when others notice that it ran out. */
    private Ledger endOfLease(Ledger ledger) {
        boolean ends = ledger.isLeased() && ledger.lease() == 0 && !op().isFenced() && noticed() && !isStillLeased();
        if (!ends) {
            return ledger;
        }
        Message message = this.before.store().message();
        boolean again = message != null && message.next().kind() == Held.Next.Kind.ATTEMPT;
        Ledger counted = (ledger.started() && again) ? ledger.with(contentBefore(), Fate::lapsed) : ledger;
        return counted.released(again);
    }

    private boolean isStillLeased() {
        Message message = held().message();
        return message != null && message.place() != Held.Place.WAITING && code() != Code.GOT
                && contentAfter() == contentBefore();
    }

    private boolean noticed() {
        Letter letter = this.before.store().letter(this.line.call().token());
        return op() != Op.REDRIVE || letter != null;
    }

    private Ledger sent(Ledger ledger) {
        int content = this.line.call().content();
        int time = this.line.call().time();
        Message message = held().message();
        boolean stored = message != null && message.holds(content);
        return switch (code()) {
            case SCHEDULED, REPLACED, AFTER_CURRENT ->
                isRepeated(content) ? ledger : others(ledger, content).with(content, (fate) -> fate.anew().dueIn(time));
            case KEPT -> stored ? ledger : ledger.with(content, (fate) -> fate.mark(Fate.KEPT_OUT));
            default -> ledger;
        };
    }

    /** Whether the store held this very send already. */
    boolean isRepeated(int content) {
        Message message = StoreModel.SOUND.noticed(this.before.store()).message();
        return message != null && message.holds(content);
    }

    /** What the store held is replaced or followed by another. */
    private Ledger others(Ledger ledger, int content) {
        Ledger changed = ledger;
        Message message = this.before.store().message();
        if (message != null && code() != Code.SCHEDULED) {
            changed = changed.with(message.sent().content(), (fate) -> fate.mark(Fate.SUPERSEDED));
            int next = message.next().content();
            if (next > 0) {
                changed = changed.with(next, (fate) -> fate.mark(Fate.SUPERSEDED));
            }
        }
        return changed;
    }

    private Ledger cancelled(Ledger ledger) {
        Message message = this.before.store().message();
        if (message == null || code() == Code.NOT_FOUND) {
            return ledger;
        }
        int mark = Fate.CANCEL_ASKED | ((code() == Code.CANCELLED) ? Fate.CANCELLED : Fate.LAST_LEASE);
        Ledger changed = ledger;
        Held noticed = StoreModel.SOUND.noticed(this.before.store());
        Message there = (noticed.message() != null) ? noticed.message() : message;
        changed = changed.with(there.sent().content(), (fate) -> fate.mark(mark));
        int next = there.next().content();
        if (next > 0) {
            changed = changed.with(next, (fate) -> fate.mark(Fate.CANCEL_ASKED | Fate.CANCELLED));
        }
        return changed;
    }

    private Ledger redriven(Ledger ledger) {
        boolean anew = code() == Code.REDRIVEN && !isRedriven(this.before.store());
        return anew ? ledger.released(false).with(this.line.call().content(), (fate) -> Fate.NONE.mark(Fate.STORED))
                : ledger;
    }

    private boolean isRedriven(Held held) {
        return held.letter(this.line.call().token()) == null;
    }

    private Ledger claimed(Ledger ledger) {
        Grant grant = this.outcome.answer().grant();
        return (grant != null) ? ledger.ownedBy(this.who, this.line.call().time()) : ledger;
    }

    /** By the owner of the lease. */
    private Ledger settled(Ledger ledger) {
        int content = contentBefore();
        boolean stays = contentAfter() == content;
        return switch (op()) {
            case START -> ledger.withStart();
            case EXTEND -> ledger.extended(this.line.call().time());
            case ACKNOWLEDGE -> ledger.released(false).with(content, (fate) -> fate.mark(Fate.FINISHED));
            case RETRY ->
                stays ? ledger.released(false).with(content, (fate) -> fate.failed().dueIn(this.line.call().time()))
                        : ledger.released(false);
            case RELEASE -> stays ? ledger.released(ledger.suspect() && !ledger.started())
                .with(content, (fate) -> fate.dueIn(this.line.call().time())) : ledger.released(false);
            case DEAD_LETTER -> ledger.released(false).with(content, (fate) -> fate.mark(Fate.DEAD));
            default -> ledger;
        };
    }

}
