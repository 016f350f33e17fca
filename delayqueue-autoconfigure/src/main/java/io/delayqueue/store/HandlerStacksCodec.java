package io.delayqueue.store;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.delayqueue.admin.HandlerStacks;
import io.delayqueue.admin.HandlerStacks.HandlerStack;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the stacks of overdue handlers as JSON and reads them. As many are written as
 * fit. Thread-safe.
 */
public final class HandlerStacksCodec {

    /** Maximum length of the list of stacks, in bytes. */
    static final int MAX_LENGTH = 32_768;

    private static final int MAX_FRAME = 300;

    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    private HandlerStacksCodec() {
    }

    public static byte[] write(HandlerStacks stacks) {
        ObjectNode json = MAPPER.createObjectNode()
            .put("requestedAt", stacks.requestedAt().toEpochMilli())
            .put("takenAt", stacks.takenAt().toEpochMilli())
            .put("until", stacks.until().toEpochMilli());
        ArrayNode list = json.putArray("stacks");
        int length = 2; // the brackets
        for (HandlerStack stack : stacks.stacks()) {
            ObjectNode entry = NodeStatusCodec.handler(stack.handler());
            ArrayNode frames = entry.putArray("frames");
            stack.frames().forEach((frame) -> frames.add(frame.substring(0, Math.min(frame.length(), MAX_FRAME))));
            length += MAPPER.writeValueAsBytes(entry).length + (list.isEmpty() ? 0 : 1);
            if (length > MAX_LENGTH) {
                break;
            }
            list.add(entry);
        }
        return MAPPER.writeValueAsBytes(json);
    }

    /**
     * Reads stacks; returns empty if there are none, or their time has passed.
     * @param now the time of the store
     */
    public static Optional<HandlerStacks> read(byte[] content, Instant now) {
        JsonNode json = WantedStateCodec.parsed(content, 2 * MAX_LENGTH);
        Instant until = WantedStateCodec.time(json, "until");
        if (!until.isAfter(now)) {
            return Optional.empty();
        }
        List<HandlerStack> stacks = new ArrayList<>();
        json.path("stacks").forEach((entry) -> {
            List<String> frames = new ArrayList<>();
            entry.path("frames").forEach((frame) -> frames.add(frame.asString("")));
            stacks.add(new HandlerStack(NodeStatusCodec.handler(entry), frames));
        });
        return Optional.of(new HandlerStacks(WantedStateCodec.time(json, "requestedAt"),
                WantedStateCodec.time(json, "takenAt"), until, stacks));
    }

}
