package io.delayqueue.web;

import java.time.Duration;
import java.util.Map;

import io.delayqueue.engine.ClaimedMessage;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A message on its way to who claimed it.
 *
 * @param claimed the message
 * @param headers those given by its sender
 * @param payload what it says
 * @param sent when its claim was sent, on the monotonic clock
 * @param lease how long it is the caller's, from then on
 */
record TakenMessage(ClaimedMessage claimed, Map<String, String> headers, JsonNode payload, long sent, Duration lease) {

    /** What is left of the lease at this time of the monotonic clock. */
    Duration left(long now) {
        return this.lease.minusNanos(now - this.sent);
    }

    ObjectNode toJson(long now) {
        ObjectNode json = Views.object()
            .put("id", this.claimed.lease().id())
            .put("token", LeaseToken.of(this.claimed).text())
            .put("attempt", this.claimed.failures() + 1)
            .put("dueAt", Views.time(this.claimed.dueAt()))
            .put("leaseMillis", Math.max(0, left(now).toMillis()))
            .put("group", this.claimed.group());
        json.set("headers", Views.headers(this.headers));
        json.set("payload", this.payload);
        return json;
    }

}
