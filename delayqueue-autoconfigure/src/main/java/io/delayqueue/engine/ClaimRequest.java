package io.delayqueue.engine;

import java.time.Duration;

/**
 * What a claim asks for.
 *
 * @param limit most messages to lease, 1 to {@link MessageStore#BATCH_LIMIT}
 * @param leaseTime how long the leases last
 * @param policy what becomes of messages that are found expired
 */
public record ClaimRequest(int limit, Duration leaseTime, ExpiredPolicy policy) {

}
