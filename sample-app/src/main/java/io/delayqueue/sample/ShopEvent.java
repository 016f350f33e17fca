package io.delayqueue.sample;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Something that happened, for people to read.
 *
 * @param number counts the events of this run
 * @param at when it happened
 * @param kind what happened
 * @param orderId to which order; {@code null} if to none
 * @param text more about it
 * @param latenessMillis how late after its due time a message was handled; {@code null}
 * if none was
 */
record ShopEvent(long number, Instant at, Kind kind, @Nullable String orderId, String text,
        @Nullable Long latenessMillis) {

    /** What can happen. */
    enum Kind {

        PLACED, REMINDED, EXTENDED, PAID, CANCELLED, RECEIPT_FAILED, RECEIPT_SENT, DEAD, REDRIVEN, PURGED, MAIL_SERVER,
        REDIS_LOST

    }

}
