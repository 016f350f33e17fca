package io.delayqueue.web.consume;

import java.time.Duration;
import java.util.Map;

import io.delayqueue.consume.MessageClaimer;
import io.delayqueue.store.ClaimedMessage;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.Json;
import tools.jackson.databind.node.ObjectNode;

/**
 * Holds a claimed message on its way to the caller.
 *
 * @param claimed the message, without its content
 * @param token the signed lease token
 * @param headers those given by its sender
 * @param payload the payload, as JSON
 * @param term the time of the lease
 */
public record ClaimedHttpMessage(ClaimedMessage claimed, String token, Map<String, String> headers, String payload,
        MessageClaimer.Term term) {

    /** Returns the rest of the lease at this time of the monotonic clock. */
    public Duration left(long now) {
        return this.term.left(now);
    }

    public ObjectNode toJson(long now) {
        ObjectNode json = ApiViews.object()
            .put("id", this.claimed.lease().id())
            .put("token", this.token)
            .put("attempt", this.claimed.failures() + 1)
            .put("dueAt", ApiViews.time(this.claimed.dueAt()))
            .put("leaseMillis", Math.max(0, left(now).toMillis()))
            .put("group", this.claimed.group());
        json.set("headers", ApiViews.headers(this.headers));
        json.set("payload", Json.raw(this.payload));
        return json;
    }

}
