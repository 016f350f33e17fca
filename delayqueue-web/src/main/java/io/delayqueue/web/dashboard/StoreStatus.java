package io.delayqueue.web.dashboard;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Describes whether the store answers this node, without a call of the store.
 *
 * @param unansweredFor time since the start of the first read that had no result;
 * {@code null} if the store answers
 * @param failure the message of the last failure; {@code null} if no read has failed
 */
record StoreStatus(@Nullable Duration unansweredFor, @Nullable String failure) {

    /** The last read has succeeded, and none hangs. */
    static final StoreStatus ANSWERS = new StoreStatus(null, null);

}
