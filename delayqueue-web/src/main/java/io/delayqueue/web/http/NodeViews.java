package io.delayqueue.web.http;

import java.util.Optional;

import io.delayqueue.admin.HandlerStacks;
import io.delayqueue.admin.ListenerOverride;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.NodeStatus.IntakeStatus;
import io.delayqueue.admin.NodeStatus.ListenerStatus;
import io.delayqueue.admin.NodeStatus.RunningHandler;
import io.delayqueue.admin.WantedNodeState;
import io.delayqueue.admin.WantedNodeState.StackRequest;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Converts nodes, their wanted state and the stacks of their handlers to the JSON of the
 * API. Absent values are {@code null}, so that every field is present.
 */
public final class NodeViews {

    private NodeViews() {
    }

    public static ObjectNode node(NodeStatus node) {
        ObjectNode json = ApiViews.object()
            .put("id", node.id())
            .put("application", node.application())
            .put("host", node.host())
            .put("pid", node.pid())
            .put("version", node.version())
            .put("startedAt", ApiViews.time(node.startedAt()))
            .put("seenAt", ApiViews.time(node.seenAt()));
        ArrayNode listeners = json.putArray("listeners");
        node.listeners().forEach((listener) -> listeners.add(listener(listener)));
        ObjectNode handlers = json.putObject("handlers")
            .put("total", node.handlers().total())
            .put("overdue", node.handlers().overdue());
        ArrayNode longest = handlers.putArray("longest");
        node.handlers().longest().forEach((handler) -> longest.add(handler(handler)));
        ArrayNode intakes = json.putArray("intakes");
        node.intakes().forEach((intake) -> intakes.add(intake(intake)));
        return json;
    }

    private static ObjectNode listener(ListenerStatus listener) {
        ObjectNode json = ApiViews.object().put("id", listener.id());
        ArrayNode queues = json.putArray("queues");
        listener.queues().forEach(queues::add);
        json.put("concurrency", listener.concurrency())
            .put("free", listener.free())
            .put("running", listener.running())
            .put("paused", listener.paused())
            .put("outage", listener.outage())
            .put("handled", listener.handled())
            .put("failed", listener.failed());
        ArrayNode byQueue = json.putArray("byQueue");
        listener.byQueue().forEach((status) -> {
            ObjectNode entry = byQueue.addObject()
                .put("queue", status.queue())
                .put("concurrency", status.concurrency())
                .put("configured", status.configured())
                .put("free", status.free());
            ListenerOverride override = status.override();
            entry.set("override", (override != null) ? override(override) : null);
        });
        return json;
    }

    private static ObjectNode handler(RunningHandler handler) {
        return ApiViews.object()
            .put("listener", handler.listener())
            .put("queue", handler.queue())
            .put("id", handler.id())
            .put("messages", handler.messages())
            .put("attempt", handler.attempt())
            .put("runningForMillis", handler.runningFor().toMillis())
            .put("overdue", handler.overdue());
    }

    private static ObjectNode intake(IntakeStatus intake) {
        return ApiViews.object()
            .put("source", intake.source())
            .put("queue", intake.queue())
            .put("running", intake.running())
            .put("problem", intake.problem())
            .put("scheduled", intake.scheduled())
            .put("kept", intake.kept())
            .put("skipped", intake.skipped())
            .put("invalid", intake.invalid());
    }

    public static ObjectNode wanted(WantedNodeState wanted) {
        ObjectNode json = ApiViews.object();
        ArrayNode overrides = json.putArray("overrides");
        wanted.overrides().forEach((override) -> overrides.add(override(override)));
        StackRequest request = wanted.stackRequest();
        json.set("stackRequest", (request != null) ? stackRequest(request) : null);
        return json;
    }

    public static ObjectNode override(ListenerOverride override) {
        return ApiViews.object()
            .put("listener", override.listener())
            .put("queue", override.queue())
            .put("concurrency", override.concurrency())
            .put("paused", override.paused())
            .put("by", override.by())
            .put("at", ApiViews.time(override.at()))
            .put("until", ApiViews.time(override.until()));
    }

    public static ObjectNode stackRequest(StackRequest request) {
        return ApiViews.object()
            .put("by", request.by())
            .put("at", ApiViews.time(request.at()))
            .put("until", ApiViews.time(request.until()));
    }

    public static ObjectNode stacks(Optional<HandlerStacks> taken) {
        @Nullable HandlerStacks stacks = taken.orElse(null);
        ObjectNode json = ApiViews.object()
            .put("requestedAt", (stacks != null) ? ApiViews.time(stacks.requestedAt()) : null)
            .put("takenAt", (stacks != null) ? ApiViews.time(stacks.takenAt()) : null)
            .put("until", (stacks != null) ? ApiViews.time(stacks.until()) : null);
        ArrayNode handlers = json.putArray("handlers");
        taken.ifPresent((some) -> some.stacks().forEach((stack) -> {
            ObjectNode handler = handler(stack.handler());
            ArrayNode frames = handler.putArray("frames");
            stack.frames().forEach(frames::add);
            handlers.add(handler);
        }));
        return json;
    }

}
