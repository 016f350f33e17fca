package io.delayqueue.web.http;

import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Holds the problem details (RFC 9457) of a failed request: its kind with a status, and
 * the details.
 *
 * @param kind the kind, for programs
 * @param detail for people: the value and the rule
 * @param more further members
 */
public record Problem(Kind kind, String detail, Map<String, JsonNode> more) {

    public Problem(Kind kind, String detail) {
        this(kind, detail, Map.of());
    }

    /** Returns this problem with one more member, unless its value is absent. */
    public Problem with(String name, @Nullable JsonNode value) {
        if (value == null) {
            return this;
        }
        Map<String, JsonNode> members = new LinkedHashMap<>(this.more);
        members.put(name, value);
        return new Problem(this.kind, this.detail, members);
    }

    public JsonNode toJson() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("type", this.kind.urn());
        json.put("title", this.kind.title);
        json.put("status", this.kind.status);
        json.put("detail", this.detail);
        this.more.forEach(json::set);
        return json;
    }

    /** Lists the kinds of problems. */
    public enum Kind {

        INVALID(400, "invalid", "The request is not valid"),

        UNAUTHENTICATED(401, "unauthenticated", "The caller is not authenticated"),

        FORBIDDEN(403, "forbidden", "The caller may not do this"),

        CROSS_SITE(403, "cross-site", "A page of another site may not do this"),

        NO_ROUTE(404, "no-route", "There is no such resource"),

        NOT_FOUND(404, "not-found", "There is nothing of that name"),

        METHOD(405, "method", "The resource does not support this method"),

        LEASE_LOST(409, "lease-lost", "The message is no longer the caller's"),

        LEASED(409, "leased", "The message is being handled"),

        ID_IN_USE(409, "id-in-use", "The queue holds another message of that id"),

        EMPTY_DEAD_LETTER(409, "empty-dead-letter", "The dead letter has no message"),

        QUEUE_IN_USE(409, "queue-in-use", "The queue is in use"),

        SCHEDULE_DECLARED(409, "schedule-declared", "An application declares the schedule"),

        BODY_TOO_LARGE(413, "body-too-large", "The body is too large"),

        MEDIA_TYPE(415, "media-type", "The body is not JSON"),

        TOO_MANY_WAITING(429, "too-many-waiting", "Too many claims are under way"),

        DEFECT(500, "defect", "The request failed for an unexpected reason"),

        STORE_UNAVAILABLE(503, "store-unavailable", "The store did not answer"),

        STORE_REFUSED(503, "store-refused", "The store refused"),

        NOT_RUNNING(503, "not-running", "The node is starting or stopping"),

        NOT_REPLICATED(503, "not-replicated", "Too few replicas are known to have the message"),

        BATCH(503, "batch", "Not all messages are known to be stored");

        private final int status;

        private final String type;

        private final String title;

        Kind(int status, String type, String title) {
            this.status = status;
            this.type = type;
            this.title = title;
        }

        int status() {
            return this.status;
        }

        /** Returns the {@code type} of the problem details. */
        String urn() {
            return "urn:delayqueue:problem:" + this.type;
        }

    }

}
