package io.delayqueue.journal;

import java.util.Objects;

import io.delayqueue.MessageLimits;
import io.delayqueue.OnDuplicate;
import io.delayqueue.store.DueTime;
import io.delayqueue.store.FailedAttempts;
import io.delayqueue.store.NewMessage;

/**
 * Holds a row of the journal.
 *
 * @param revision the primary key of the row
 * @param request its request; a relative due time counts from when the row was read
 * @param accepted whether the store has applied it, and the row is kept until its message
 * has ended
 * @param behind whether the journal has an earlier row of the same id that the store has
 * not applied; for an accepted row, whether it has an earlier message of the id, or a
 * request that is to change this one
 * @param superseded whether the store has applied a later request of the same id
 * @param checks how often the sweep has found its message in the store
 * @param nextCheck when the sweep offers it again, in milliseconds of the database's
 * clock
 * @param failed the failed attempts of its message
 * @param age how long before it was read it was inserted, in milliseconds of the
 * database's clock
 */
record JournalRow(long revision, JournalRequest request, boolean accepted, boolean behind, boolean superseded,
        int checks, long nextCheck, FailedAttempts failed, long age) {

    /** Returns the size of the message, in bytes. */
    int size() {
        return (this.request.message() != null) ? message().envelope().length : 0;
    }

    /** Returns the message of a send. */
    NewMessage message() {
        return Objects.requireNonNull(this.request.message(), "Only sends have messages");
    }

    /** Returns when the message of a send is due, or due again after its last failure. */
    DueTime due() {
        Long retry = this.failed.dueMillis();
        return (retry != null) ? new DueTime(retry, false) : message().due();
    }

    /**
     * Returns the due time by which the store knows the message of a send: that of its
     * next attempt only if it is a plain one, as all others keep their own.
     */
    DueTime knownDue() {
        NewMessage message = message();
        boolean plain = message.timeToLive() == null && message.group() == null
                && message.priority() == MessageLimits.NORMAL_PRIORITY;
        return plain ? due() : message.due();
    }

    /** Returns this row with another form of its request. */
    JournalRow with(JournalRequest other) {
        return new JournalRow(this.revision, other, this.accepted, this.behind, this.superseded, this.checks,
                this.nextCheck, this.failed, this.age);
    }

    /**
     * Returns the message of a send with its revision.
     * @param message the message of this row
     * @param onDuplicate how to treat its id
     */
    NewMessage messageOf(NewMessage message, OnDuplicate onDuplicate) {
        return new NewMessage(message.id(), false, message.due(), onDuplicate, message.priority(), message.timeToLive(),
                message.group(), message.envelope(), message.stamp(), this.revision);
    }

}
