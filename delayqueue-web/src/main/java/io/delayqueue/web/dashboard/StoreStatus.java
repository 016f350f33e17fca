package io.delayqueue.web.dashboard;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Describes whether the store answers this node, without a call of the store.
 *
 * @param answers whether the last read has succeeded and none hangs
 * @param since when the first read began that had no result; {@code null} if the store
 * answers
 * @param lastAnswer when a read last succeeded; {@code null} if none has
 * @param failure the message of the last failure; {@code null} if no read has failed
 */
record StoreStatus(boolean answers, @Nullable Instant since, @Nullable Instant lastAnswer, @Nullable String failure) {
}
