package io.delayqueue.model;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What a store holds of one id. Does not change.
 *
 * @param message the message; {@code null} for none
 * @param letters the dead letters, in the order of their tokens
 */
record Held(@Nullable Message message, List<Letter> letters) {

    static final Held NOTHING = new Held(null, List.of());

    Held with(@Nullable Message message) {
        return new Held(message, this.letters);
    }

    Held plus(Letter letter) {
        List<Letter> more = new ArrayList<>(this.letters);
        more.add(letter);
        return new Held(this.message, List.copyOf(more));
    }

    Held minus(Letter letter) {
        return new Held(this.message, this.letters.stream().filter((each) -> !each.equals(letter)).toList());
    }

    @Nullable Letter letter(int token) {
        for (Letter letter : this.letters) {
            if (letter.token == token) {
                return letter;
            }
        }
        return null;
    }

    /** One tick later. */
    Held later() {
        return (this.message != null) ? with(this.message.later()) : this;
    }

    enum Place {

        WAITING, LEASED,

        /**
         * In no set: where no store ever puts one; see {@link Defect#CLAIM_IN_TWO_CALLS}.
         */
        NOWHERE

    }

    /**
     * A message.
     *
     * @param time ticks until it is due or, while it is leased, until its lease ends
     * @param next what follows its lease
     */
    record Message(Sent sent, Place place, int time, Attempts attempts, Next next) {

        static Message of(Sent sent, int delay) {
            return new Message(sent, Place.WAITING, delay, Attempts.NONE, Next.ATTEMPT);
        }

        Message in(Place place, int time) {
            return new Message(this.sent, place, time, this.attempts, this.next);
        }

        Message with(Attempts attempts) {
            return new Message(this.sent, this.place, this.time, attempts, this.next);
        }

        Message with(Next next) {
            return new Message(this.sent, this.place, this.time, this.attempts, next);
        }

        boolean isLeased() {
            return this.place == Place.LEASED;
        }

        boolean holds(int content) {
            return this.sent.content == content || this.next.content() == content;
        }

        Message later() {
            Next next = (this.next.time > 0) ? new Next(this.next.kind, this.next.sent, this.next.time - 1) : this.next;
            return (this.time > 0 || next != this.next)
                    ? new Message(this.sent, this.place, Math.max(0, this.time - 1), this.attempts, next) : this;
        }

    }

    /**
     * What a send stored.
     *
     * @param stamp names the send; that of a redrive is negative
     * @param replaced whether it replaced what was there
     */
    record Sent(int content, int stamp, boolean replaced) {
    }

    /**
     * What is known of attempts.
     *
     * @param token that of the last lease, 0 for none
     * @param givenBack whether the holder of that gave it back
     */
    record Attempts(int failures, int lapses, Suspicion suspicion, int token, boolean givenBack) {

        static final Attempts NONE = new Attempts(0, 0, Suspicion.NONE, 0, false);

        Attempts with(Suspicion suspicion) {
            return new Attempts(this.failures, this.lapses, suspicion, this.token, this.givenBack);
        }

        Attempts by(int token, boolean givenBack) {
            return new Attempts(this.failures, this.lapses, this.suspicion, token, givenBack);
        }

    }

    enum Suspicion {

        NONE, SUSPECT, STARTED

    }

    /**
     * What follows a lease.
     *
     * @param sent the successor, if it is one
     * @param time ticks until that is due
     */
    record Next(Kind kind, @Nullable Sent sent, int time) {

        static final Next ATTEMPT = new Next(Kind.ATTEMPT, null, 0);

        static final Next NOTHING = new Next(Kind.NOTHING, null, 0);

        static Next successor(Sent sent, int delay) {
            return new Next(Kind.SUCCESSOR, sent, delay);
        }

        int content() {
            return (this.sent != null) ? this.sent.content : 0;
        }

        enum Kind {

            ATTEMPT, NOTHING, SUCCESSOR

        }

    }

    /** A dead letter; the token of its lease names it. */
    record Letter(int token, int content, int failures, int lapses) {
    }

}
