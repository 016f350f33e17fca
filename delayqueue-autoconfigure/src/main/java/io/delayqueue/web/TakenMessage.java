package io.delayqueue.web;

import java.time.Duration;
import java.util.Map;

import io.delayqueue.engine.ClaimedMessage;
import tools.jackson.databind.node.ObjectNode;

/**
 * A message on its way to who claimed it.
 *
 * @param claimed the message, without its content
 * @param token proves the lease, in the hands of the caller
 * @param headers those given by its sender
 * @param payload what it says, as JSON
 * @param term how long it is the caller's
 */
record TakenMessage(ClaimedMessage claimed, String token, Map<String, String> headers, String payload, Term term) {

    /** What is left of the lease at this time of the monotonic clock. */
    Duration left(long now) {
        return this.term.lease().minusNanos(now - this.term.sent());
    }

    ObjectNode toJson(long now) {
        ObjectNode json = Views.object()
            .put("id", this.claimed.lease().id())
            .put("token", this.token)
            .put("attempt", this.claimed.failures() + 1)
            .put("dueAt", Views.time(this.claimed.dueAt()))
            .put("leaseMillis", Math.max(0, left(now).toMillis()))
            .put("group", this.claimed.group());
        json.set("headers", Views.headers(this.headers));
        json.set("payload", Json.raw(this.payload));
        return json;
    }

    /**
     * The time of a lease.
     *
     * @param sent when the claim was sent, on the monotonic clock
     * @param lease how long the message is the caller's, from then on
     */
    record Term(long sent, Duration lease) {
    }

}
