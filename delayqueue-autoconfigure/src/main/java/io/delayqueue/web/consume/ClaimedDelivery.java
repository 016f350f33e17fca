package io.delayqueue.web.consume;

import java.time.Duration;
import java.util.Map;

import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.web.http.Json;
import io.delayqueue.web.http.JsonViews;
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
public record ClaimedDelivery(ClaimedMessage claimed, String token, Map<String, String> headers, String payload,
        Term term) {

    /** What is left of the lease at this time of the monotonic clock. */
    public Duration left(long now) {
        return this.term.lease().minusNanos(now - this.term.sent());
    }

    public ObjectNode toJson(long now) {
        ObjectNode json = JsonViews.object()
            .put("id", this.claimed.lease().id())
            .put("token", this.token)
            .put("attempt", this.claimed.failures() + 1)
            .put("dueAt", JsonViews.time(this.claimed.dueAt()))
            .put("leaseMillis", Math.max(0, left(now).toMillis()))
            .put("group", this.claimed.group());
        json.set("headers", JsonViews.headers(this.headers));
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
