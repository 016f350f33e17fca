package io.delayqueue.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.delayqueue.MessageLimits;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.NodeStatus.ListenerStatus;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the status of a node as JSON and reads it. Reads field by field, so that the
 * JSON cannot name a class, and ignores reports that it cannot read. Thread-safe.
 */
public final class NodeStatusCodec {

    /**
     * Maximum length of a report to read, because any client of the store may write one.
     */
    private static final int MAX_LENGTH = 100_000;

    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    private NodeStatusCodec() {
    }

    /**
     * Writes a report.
     * @param node the node
     * @param uptime time since its listeners started
     */
    public static byte[] write(Node node, Duration uptime, List<ListenerStatus> listeners) {
        ObjectNode json = MAPPER.createObjectNode();
        json.put("application", node.application());
        json.put("host", node.host());
        json.put("pid", node.pid());
        json.put("version", node.version());
        json.put("uptime", uptime.toMillis());
        ArrayNode list = json.putArray("listeners");
        for (ListenerStatus listener : listeners) {
            ObjectNode entry = list.addObject();
            entry.put("id", listener.id());
            ArrayNode queues = entry.putArray("queues");
            listener.queues().forEach(queues::add);
            entry.put("concurrency", listener.concurrency());
            entry.put("free", listener.free());
            entry.put("running", listener.running());
            entry.put("paused", listener.paused());
            if (listener.outage() != null) {
                entry.put("outage", listener.outage());
            }
        }
        return MAPPER.writeValueAsBytes(json);
    }

    /** Reads a report; returns empty if it is not valid. */
    public static Optional<NodeStatus> read(NodeRegistry.Report report) {
        if (report.content().length > MAX_LENGTH) {
            return Optional.empty();
        }
        try {
            JsonNode json = MAPPER.readTree(report.content());
            if (!json.isObject()) {
                return Optional.empty();
            }
            List<ListenerStatus> listeners = new ArrayList<>();
            json.path("listeners").forEach((listener) -> listeners.add(listener(listener)));
            String version = text(json, "version");
            long uptime = Math.max(0, Math.min(number(json, "uptime"), MessageLimits.MAX_DURATION.toMillis()));
            return Optional
                .of(new NodeStatus(report.node(), text(json, "application"), text(json, "host"), number(json, "pid"),
                        version.isEmpty() ? null : version, report.at().minusMillis(uptime), report.at(), listeners));
        }
        catch (JacksonException ex) {
            return Optional.empty();
        }
    }

    private static ListenerStatus listener(JsonNode json) {
        List<String> queues = new ArrayList<>();
        json.path("queues").forEach((queue) -> queues.add(queue.asString("")));
        String outage = text(json, "outage");
        return new ListenerStatus(text(json, "id"), queues, (int) number(json, "concurrency"),
                (int) number(json, "free"), json.path("running").asBoolean(false), json.path("paused").asBoolean(false),
                outage.isEmpty() ? null : outage);
    }

    private static String text(JsonNode json, String field) {
        return json.path(field).asString("");
    }

    private static long number(JsonNode json, String field) {
        return json.path(field).asLong(0);
    }

    /**
     * Holds the identity of a node.
     *
     * @param id identifies this run of the process
     * @param application its application
     * @param host where it runs
     * @param pid its process there
     * @param version of the library; {@code null} if not known
     */
    public record Node(String id, String application, String host, long pid, @Nullable String version) {
    }

}
