package io.delayqueue.web.http;

import java.time.Duration;

/**
 * Holds the base path and the limits of the API.
 *
 * @param path the base path, without a slash at the end
 * @param maxBodySize most bytes of a request's body
 * @param maxBatch most messages of one request, and of one claim
 * @param maxPageSize most entries of a page
 * @param maxDelay longest delay, and how far ahead a due time may lie
 * @param maxWait longest time that a claim waits for messages
 * @param maxLease longest lease of a claim
 */
public record ApiSettings(String path, int maxBodySize, int maxBatch, int maxPageSize, Duration maxDelay,
        Duration maxWait, Duration maxLease) {
}
