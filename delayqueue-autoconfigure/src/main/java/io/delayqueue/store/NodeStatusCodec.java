package io.delayqueue.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.delayqueue.MessageLimits;
import io.delayqueue.admin.ListenerOverride;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.NodeStatus.IntakeStatus;
import io.delayqueue.admin.NodeStatus.ListenerStatus;
import io.delayqueue.admin.NodeStatus.QueueStatus;
import io.delayqueue.admin.NodeStatus.RunningHandler;
import io.delayqueue.admin.NodeStatus.RunningHandlers;
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
    private static final int MAX_LENGTH = 200_000;

    /** Maximum length of the list of running handlers in a report, in bytes. */
    static final int MAX_HANDLERS_LENGTH = 4_096;

    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    private NodeStatusCodec() {
    }

    /**
     * Writes a report.
     * @param node the node
     * @param uptime time since its listeners started
     * @param handlers its running handlers, of which as many are written as fit in 4 KiB
     */
    public static byte[] write(Node node, Duration uptime, List<ListenerStatus> listeners, RunningHandlers handlers,
            List<IntakeStatus> intakes) {
        ObjectNode json = MAPPER.createObjectNode();
        json.put("application", node.application());
        json.put("host", node.host());
        json.put("pid", node.pid());
        json.put("version", node.version());
        json.put("uptime", uptime.toMillis());
        ArrayNode list = json.putArray("listeners");
        listeners.forEach((listener) -> write(list.addObject(), listener));
        write(json.putObject("handlers"), handlers);
        ArrayNode reading = json.putArray("intakes");
        intakes.forEach((intake) -> write(reading.addObject(), intake));
        return MAPPER.writeValueAsBytes(json);
    }

    private static void write(ObjectNode entry, ListenerStatus listener) {
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
        entry.put("handled", listener.handled());
        entry.put("failed", listener.failed());
        ArrayNode byQueue = entry.putArray("byQueue");
        listener.byQueue().forEach((status) -> {
            ObjectNode one = byQueue.addObject()
                .put("queue", status.queue())
                .put("concurrency", status.concurrency())
                .put("configured", status.configured())
                .put("free", status.free());
            ListenerOverride override = status.override();
            if (override != null) {
                one.set("override", WantedStateCodec.override(override));
            }
        });
    }

    private static void write(ObjectNode json, RunningHandlers handlers) {
        json.put("total", handlers.total()).put("overdue", handlers.overdue());
        ArrayNode longest = json.putArray("longest");
        int length = 2; // the brackets
        for (RunningHandler handler : handlers.longest()) {
            ObjectNode entry = handler(handler);
            length += MAPPER.writeValueAsBytes(entry).length + (longest.isEmpty() ? 0 : 1);
            if (length > MAX_HANDLERS_LENGTH) {
                return;
            }
            longest.add(entry);
        }
    }

    private static void write(ObjectNode entry, IntakeStatus intake) {
        entry.put("source", intake.source()).put("queue", intake.queue()).put("running", intake.running());
        if (intake.problem() != null) {
            entry.put("problem", intake.problem());
        }
        entry.put("scheduled", intake.scheduled())
            .put("kept", intake.kept())
            .put("skipped", intake.skipped())
            .put("invalid", intake.invalid());
    }

    static ObjectNode handler(RunningHandler handler) {
        return MAPPER.createObjectNode()
            .put("listener", handler.listener())
            .put("queue", handler.queue())
            .put("id", handler.id())
            .put("messages", handler.messages())
            .put("attempt", handler.attempt())
            .put("millis", handler.runningFor().toMillis())
            .put("overdue", handler.overdue());
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
            List<IntakeStatus> intakes = new ArrayList<>();
            json.path("intakes").forEach((intake) -> intakes.add(intake(intake)));
            String version = text(json, "version");
            long uptime = Math.max(0, Math.min(number(json, "uptime"), MessageLimits.MAX_DURATION.toMillis()));
            return Optional.of(new NodeStatus(report.node(), text(json, "application"), text(json, "host"),
                    number(json, "pid"), version.isEmpty() ? null : version, report.at().minusMillis(uptime),
                    report.at(), listeners, handlers(json.path("handlers")), intakes));
        }
        catch (JacksonException ex) {
            return Optional.empty();
        }
    }

    private static ListenerStatus listener(JsonNode json) {
        List<String> queues = new ArrayList<>();
        json.path("queues").forEach((queue) -> queues.add(queue.asString("")));
        String outage = text(json, "outage");
        String id = text(json, "id");
        List<QueueStatus> byQueue = new ArrayList<>();
        json.path("byQueue").forEach((status) -> byQueue.add(queue(id, status)));
        return new ListenerStatus(id, queues, (int) number(json, "concurrency"), (int) number(json, "free"),
                json.path("running").asBoolean(false), json.path("paused").asBoolean(false),
                outage.isEmpty() ? null : outage, number(json, "handled"), number(json, "failed"), byQueue);
    }

    private static QueueStatus queue(String listener, JsonNode json) {
        String queue = text(json, "queue");
        return new QueueStatus(queue, (int) number(json, "concurrency"), (int) number(json, "configured"),
                (int) number(json, "free"), WantedStateCodec.override(listener, queue, json.path("override")));
    }

    private static IntakeStatus intake(JsonNode json) {
        String problem = text(json, "problem");
        return new IntakeStatus(text(json, "source"), text(json, "queue"), json.path("running").asBoolean(false),
                problem.isEmpty() ? null : problem, number(json, "scheduled"), number(json, "kept"),
                number(json, "skipped"), number(json, "invalid"));
    }

    private static RunningHandlers handlers(JsonNode json) {
        List<RunningHandler> longest = new ArrayList<>();
        json.path("longest").forEach((handler) -> longest.add(handler(handler)));
        return new RunningHandlers((int) number(json, "total"), (int) number(json, "overdue"), longest);
    }

    static RunningHandler handler(JsonNode json) {
        long millis = Math.max(0, Math.min(number(json, "millis"), MessageLimits.MAX_DURATION.toMillis()));
        return new RunningHandler(text(json, "listener"), text(json, "queue"), text(json, "id"),
                (int) number(json, "messages"), (int) number(json, "attempt"), Duration.ofMillis(millis),
                json.path("overdue").asBoolean(false));
    }

    static String text(JsonNode json, String field) {
        return json.path(field).asString("");
    }

    static long number(JsonNode json, String field) {
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
