package io.delayqueue.redis.check;

import io.delayqueue.MessageLimits;

/**
 * Lists the keys of a partition in the order of {@code prelude.lua}, each with the type
 * that it must have.
 */
enum KeyKind {

    MESSAGES("hash"), SCHEDULED("zset"), WAKE("string"), PARTITIONS("string"), LEASED("zset"), DETAILS("hash"),
    ATTEMPTS("hash"), TOKENS("hash"), SUCCESSORS("hash"), DEAD_ORDER("zset"), DEAD_LETTERS("hash"), PRIORITIES("zset"),
    WAITING("zset"), GROUP_HEADS("hash"), PRIMARY("string"), REVISIONS("hash"), CHANGES("zset"), JOURNAL("string");

    private final String type;

    KeyKind(String type) {
        this.type = type;
    }

    /** Returns the key that holds a lane. */
    static KeyKind ofLane(int priority) {
        return (priority == MessageLimits.NORMAL_PRIORITY) ? SCHEDULED : PRIORITIES;
    }

    /** Returns its type, as {@code TYPE} reports it. */
    String type() {
        return this.type;
    }

    /** Returns its number in {@code prelude.lua}, from 1. */
    int number() {
        return ordinal() + 1;
    }

    /** Returns whether it has members that can be read page by page. */
    boolean isCollection() {
        return !this.type.equals("string");
    }

    /** Returns whether its members belong to messages that the queue holds. */
    boolean isChecked() {
        return isCollection() && this != CHANGES;
    }

    /** Returns whether its values are messages, which may be large. */
    boolean holdsContent() {
        return this == MESSAGES || this == SUCCESSORS || this == DEAD_LETTERS;
    }

}
