package io.delayqueue.store;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.delayqueue.admin.ListenerOverride;
import io.delayqueue.admin.NodeOperations;
import io.delayqueue.admin.WantedNodeState;
import io.delayqueue.admin.WantedNodeState.StackRequest;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the wanted state of a node as JSON and reads it, field by field. Any client of
 * the store may write one, so values out of bounds are left out. Thread-safe.
 */
public final class WantedStateCodec {

    /** Maximum length of a state, in bytes. */
    public static final int MAX_LENGTH = 65_536;

    /**
     * Ends may be later than allowed by this factor, as the store's clock may jump back.
     */
    private static final int SLACK = 2;

    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    private WantedStateCodec() {
    }

    /** Writes a state; an empty array for none. */
    public static byte[] write(WantedNodeState state) {
        if (state.equals(WantedNodeState.NONE)) {
            return new byte[0];
        }
        ObjectNode json = MAPPER.createObjectNode();
        ArrayNode overrides = json.putArray("overrides");
        state.overrides()
            .forEach((override) -> overrides
                .add(override(override).put("listener", override.listener()).put("queue", override.queue())));
        StackRequest request = state.stackRequest();
        if (request != null) {
            json.putObject("stacks")
                .put("by", request.by())
                .put("at", request.at().toEpochMilli())
                .put("until", request.until().toEpochMilli());
        }
        return MAPPER.writeValueAsBytes(json);
    }

    /**
     * Reads a state, without what has ended or would end too late.
     * @param now the time of the store
     */
    public static WantedNodeState read(byte[] content, Instant now) {
        JsonNode json = parsed(content, MAX_LENGTH);
        List<ListenerOverride> overrides = new ArrayList<>();
        json.path("overrides").forEach((entry) -> {
            ListenerOverride override = override(NodeStatusCodec.text(entry, "listener"),
                    NodeStatusCodec.text(entry, "queue"), entry);
            if (override != null && isCurrent(override.until(), now, NodeOperations.MAX_DURATION)
                    && overrides.size() < NodeOperations.MAX_OVERRIDES) {
                overrides.add(override);
            }
        });
        JsonNode stacks = json.path("stacks");
        StackRequest request = new StackRequest(NodeStatusCodec.text(stacks, "by"), time(stacks, "at"),
                time(stacks, "until"));
        return new WantedNodeState(overrides,
                isCurrent(request.until(), now, NodeOperations.STACKS_KEPT) ? request : null);
    }

    private static boolean isCurrent(Instant until, Instant now, Duration longest) {
        return until.isAfter(now) && !until.isAfter(now.plus(longest.multipliedBy(SLACK)));
    }

    /** Parses an object; returns an empty one if it cannot be read. */
    static JsonNode parsed(byte[] content, int maxLength) {
        if (content.length == 0 || content.length > maxLength) {
            return MAPPER.createObjectNode();
        }
        try {
            return MAPPER.readTree(content);
        }
        catch (JacksonException ex) {
            return MAPPER.createObjectNode();
        }
    }

    static ObjectNode override(ListenerOverride override) {
        return MAPPER.createObjectNode()
            .put("concurrency", override.concurrency())
            .put("paused", override.paused())
            .put("by", override.by())
            .put("at", override.at().toEpochMilli())
            .put("until", override.until().toEpochMilli());
    }

    /**
     * Reads an override; returns {@code null} if it changes nothing, or its concurrency
     * is out of bounds.
     */
    static @Nullable ListenerOverride override(String listener, String queue, JsonNode json) {
        JsonNode value = json.path("concurrency");
        boolean configured = value.isMissingNode() || value.isNull();
        long concurrency = NodeStatusCodec.number(json, "concurrency");
        boolean paused = json.path("paused").asBoolean(false);
        if (configured ? !paused : (concurrency < 1 || concurrency > NodeOperations.MAX_CONCURRENCY)) {
            return null;
        }
        return new ListenerOverride(listener, queue, configured ? null : Integer.valueOf((int) concurrency), paused,
                NodeStatusCodec.text(json, "by"), time(json, "at"), time(json, "until"));
    }

    /** Returns a time; one out of bounds is in the past. */
    static Instant time(JsonNode json, String field) {
        long millis = NodeStatusCodec.number(json, field);
        return Instant.ofEpochMilli((millis < 0 || millis > 1L << 53) ? 0 : millis);
    }

}
