package io.delayqueue.migrate.redis;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

import io.delayqueue.migrate.SourceEntry;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads the messages of Rqueue: JSON with the payload as text, which in turn is JSON with
 * the payload as text and the name of its class. No class of that name is loaded.
 */
final class RqueueEntry {

    /** Number of attempts that have failed. */
    static final String FAILURES_HEADER = "rqueue-failures";

    /** Number of retries that the sender asked for. */
    static final String RETRIES_HEADER = "rqueue-retry-count";

    /**
     * Holds when the message was enqueued, which identifies it among those of its id. Is
     * not sent.
     */
    private static final String QUEUED_TIME = "rqueue-queued-time";

    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    private RqueueEntry() {
    }

    /**
     * Reads a message.
     * @param score its due time; {@code null} if it is due, and its own field counts
     */
    static SourceEntry read(String id, @Nullable String score, byte[] member) {
        Instant dueAt = (score != null) ? RedisSource.instant(score) : null;
        Map<String, String> fields = fields(member);
        String message = fields.get("message");
        String processAt = fields.get("processAt");
        if (message == null || processAt == null || !fields.containsKey("id")) {
            return SourceEntry.unreadable(id, dueAt, member, "it is not a message of Rqueue");
        }
        if (!fields.getOrDefault("period", "0").equals("0")) {
            return SourceEntry.unreadable(id, dueAt, member,
                    "it is periodic, every %s ms: replace it by a schedule".formatted(fields.get("period")));
        }
        Instant due = (dueAt != null) ? dueAt : Instant.ofEpochMilli(Long.parseLong(processAt));
        return SourceEntry.of(id, due, payload(message)).with(fields.get("id"), headers(fields));
    }

    private static Map<String, String> headers(Map<String, String> fields) {
        Map<String, String> headers = new LinkedHashMap<>();
        if (!fields.getOrDefault("failureCount", "0").equals("0")) {
            headers.put(FAILURES_HEADER, fields.get("failureCount"));
        }
        if (fields.containsKey("retryCount")) {
            headers.put(RETRIES_HEADER, fields.get("retryCount"));
        }
        if (fields.containsKey("queuedTime")) {
            headers.put(QUEUED_TIME, fields.get("queuedTime"));
        }
        return headers;
    }

    /**
     * Returns the payload that Rqueue's converter has put into an envelope; all of the
     * text if the application has a converter of its own.
     */
    private static byte[] payload(String message) {
        byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
        Map<String, String> envelope = fields(bytes);
        String inner = envelope.get("msg");
        return (inner != null && envelope.containsKey("name") && envelope.size() == 2)
                ? inner.getBytes(StandardCharsets.UTF_8) : bytes;
    }

    /**
     * Completes an entry by the record that Rqueue has about the id of the message. An
     * entry that Rqueue would not handle is dropped: the application has deleted the
     * message, or has enqueued another one with its id later.
     */
    static SourceEntry complete(SourceEntry entry, byte @Nullable [] metadata) {
        String reason = (metadata != null) ? reasonToDrop(metadata, entry.headers().get(QUEUED_TIME)) : null;
        Map<String, String> headers = new LinkedHashMap<>(entry.headers());
        headers.remove(QUEUED_TIME);
        SourceEntry completed = entry.with(entry.businessId(), headers);
        return (reason != null) ? completed.dropped(reason) : completed;
    }

    private static @Nullable String reasonToDrop(byte[] metadata, @Nullable String queuedTime) {
        JsonNode json;
        try {
            json = MAPPER.readTree(metadata);
        }
        catch (JacksonException ex) {
            return null;
        }
        if (json.path("deleted").asBoolean(false)) {
            return "deleted";
        }
        JsonNode latest = json.path("rqueueMessage").path("queuedTime");
        boolean replaced = latest.isIntegralNumber() && queuedTime != null
                && !queuedTime.equals(Long.toString(latest.longValue()));
        return replaced ? "superseded" : null;
    }

    /** Returns the fields of an object that are texts, numbers or booleans, as text. */
    private static Map<String, String> fields(byte[] json) {
        Map<String, String> fields = new LinkedHashMap<>();
        try (JsonParser parser = MAPPER.createParser(json)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                return Map.of();
            }
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = parser.currentName();
                JsonToken token = parser.nextToken();
                if (token.isScalarValue() && token != JsonToken.VALUE_NULL) {
                    fields.put(name, parser.getString());
                }
                parser.skipChildren();
            }
            return fields;
        }
        catch (JacksonException ex) {
            return Map.of();
        }
    }

}
