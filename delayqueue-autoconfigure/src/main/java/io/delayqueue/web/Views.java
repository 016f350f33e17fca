package io.delayqueue.web;

import java.time.Instant;
import java.util.Map;

import io.delayqueue.DeadLetter;
import io.delayqueue.QueueStatistics;
import io.delayqueue.SendResult;
import io.delayqueue.StoredMessage;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Things of the queue as JSON. What is absent is {@code null}, so that a field is always
 * there; payload and headers are left out for who may not read them.
 */
final class Views {

    private Views() {
    }

    static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    static ObjectNode sent(SendResult result) {
        return object().put("queue", result.queue())
            .put("id", result.id())
            .put("dueAt", time(result.dueAt()))
            .put("outcome", result.outcome().name());
    }

    static ObjectNode statistics(QueueStatistics statistics) {
        return object().put("queue", statistics.queue())
            .put("scheduled", statistics.scheduled())
            .put("due", statistics.due())
            .put("leased", statistics.leased())
            .put("dead", statistics.dead())
            .put("nextDueAt", time(statistics.nextDueAt()));
    }

    static ObjectNode message(StoredMessage message, boolean open) {
        ObjectNode json = object().put("queue", message.queue())
            .put("id", message.id())
            .put("state", message.state().name())
            .put("dueAt", time(message.dueAt()))
            .put("leasedUntil", time(message.leasedUntil()))
            .put("expiresAt", time(message.expiresAt()))
            .put("priority", message.priority())
            .put("group", message.group())
            .put("failures", message.failures())
            .put("lapses", message.lapses());
        return content(json, message.payload(), message.headers(), open);
    }

    static ObjectNode letter(DeadLetter letter, boolean open) {
        ObjectNode json = object().put("queue", letter.queue())
            .put("letterId", letter.letterId())
            .put("id", letter.id())
            .put("group", letter.group())
            .put("dueAt", time(letter.dueAt()))
            .put("diedAt", time(letter.diedAt()))
            .put("failures", letter.failures())
            .put("lapses", letter.lapses())
            .put("cause", letter.cause())
            .put("firstFailure", letter.firstFailure());
        return content(json, letter.payload(), letter.headers(), open);
    }

    private static ObjectNode content(ObjectNode json, @Nullable String payload, Map<String, String> headers,
            boolean open) {
        json.put("masked", !open);
        if (open) {
            json.set("payload", Json.payload(payload));
            json.set("headers", headers(headers));
        }
        return json;
    }

    static ObjectNode headers(Map<String, String> headers) {
        ObjectNode json = object();
        headers.forEach(json::put);
        return json;
    }

    static @Nullable String time(@Nullable Instant time) {
        return (time != null) ? time.toString() : null;
    }

}
