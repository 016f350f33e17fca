package io.delayqueue.model;

import org.jspecify.annotations.Nullable;

/**
 * What a store answers.
 *
 * @param code what became of the call
 * @param grant what a claim got
 */
record Answer(Code code, @Nullable Grant grant) {

    static final Answer YES = of(Code.YES);

    static final Answer NO = of(Code.NO);

    static Answer of(Code code) {
        return new Answer(code, null);
    }

    static Answer of(boolean done) {
        return done ? YES : NO;
    }

    @Override
    public String toString() {
        return (this.grant != null) ? this.grant.toString() : this.code.toString();
    }

    enum Code {

        SCHEDULED, KEPT, REPLACED, AFTER_CURRENT, CANCELLED, RESCHEDULED, LEASED, NOT_FOUND, REDRIVEN, ID_IN_USE, GOT,
        NOTHING, YES, NO

    }

    /**
     * A message that was claimed.
     *
     * @param token that of its lease
     * @param content what was sent
     */
    record Grant(int token, int content, int failures, int lapses, boolean suspect) {

        Grant withToken(int token) {
            return new Grant(token, this.content, this.failures, this.lapses, this.suspect);
        }

    }

}
