package io.delayqueue.model;

/** What may be wrong with a queue, and which promise is broken by that. */
enum Defect {

    NONE(""),

    ACKNOWLEDGE_WITHOUT_TOKEN("P5"),

    RETRY_WITHOUT_TOKEN("P5"),

    LAPSED_LEASE_WITHOUT_LATER_TOKEN("P5"),

    EXTEND_WITHOUT_TOKEN("P5"),

    CLAIM_IN_TWO_CALLS("P3"),

    LAPSED_LEASES_STAY("P3"),

    CLAIM_LOOKS_AHEAD("P2"),

    RESCHEDULE_IGNORES_THE_LEASE("P7"),

    CANCEL_IGNORES_THE_LEASE("P7"),

    HANDLER_STARTS_AFTER_ITS_LEASE("P8"),

    LEASE_COUNTED_FROM_THE_ANSWER("P4"),

    RETRY_IGNORES_A_CANCEL("P6"),

    RETRY_COUNTS_TWICE_WHEN_REPEATED("P11"),

    SEND_WITHOUT_STAMP("P11"),

    LAPSE_COUNTS_WITHOUT_A_START("P9"),

    START_IS_NOT_RECORDED("P9"),

    DEAD_LETTER_KEEPS_THE_MESSAGE("P9"),

    REDRIVE_KEEPS_THE_LETTER("P9"),

    ATTEMPTS_NEVER_END("P9"),

    SUCCESSOR_LOST_AT_A_DEAD_LETTER("P1"),

    SUCCESSOR_LOST_AT_A_LAPSE("P1"),

    SEND_DROPPED_WHILE_LEASED("P1"),

    KEEP_REPLACES("P1"),

    KEEP_FOLLOWS("P8"),

    ACKNOWLEDGED_MESSAGE_COMES_BACK("P8"),

    REPLACEMENT_INHERITS_ATTEMPTS("P10");

    private final String promise;

    Defect(String promise) {
        this.promise = promise;
    }

    /** The promise that the shortest way to trouble breaks. */
    String promise() {
        return this.promise;
    }

}
