package io.delayqueue.web.api;

import java.time.Duration;
import java.util.Optional;

import io.delayqueue.QueueName;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.admin.ListenerOverride;
import io.delayqueue.admin.NodeOperations;
import io.delayqueue.admin.NodeOperations.OverrideRequest;
import io.delayqueue.admin.NodeStatus;
import io.delayqueue.admin.WantedNodeState;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.AuditedOperation;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.Json;
import io.delayqueue.web.http.JsonObjectReader;
import io.delayqueue.web.http.NodeViews;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.ProblemException;
import io.delayqueue.web.http.Responses;
import io.delayqueue.web.http.RouteTable;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/**
 * Adds the routes of nodes: list, overrides of their listeners, and stack frames of their
 * overdue handlers.
 */
public final class NodeRoutes {

    private static final String ONE = "/nodes/{node}";

    private static final String OVERRIDES = ONE + "/overrides";

    private static final String STACKS = ONE + "/stacks";

    private static final int MAX_LISTENER = 1_000;

    private static final Duration USUAL_DURATION = Duration.ofHours(1);

    private final DelayQueueInspector inspector;

    private final @Nullable NodeOperations nodes;

    private final AuditPublisher audit;

    /**
     * Creates the routes.
     * @param nodes changes nodes; {@code null} if the application has no such bean
     */
    public NodeRoutes(DelayQueueInspector inspector, @Nullable NodeOperations nodes, AuditPublisher audit) {
        this.inspector = inspector;
        this.nodes = nodes;
        this.audit = audit;
    }

    public void addTo(RouteTable routes) {
        routes.add(HttpMethod.GET, "/nodes", Authority.VIEW, this::list);
        routes.add(HttpMethod.GET, ONE, Authority.VIEW, this::find);
        routes.add(HttpMethod.PUT, OVERRIDES, Authority.OPERATE, this::override);
        routes.add(HttpMethod.DELETE, OVERRIDES, Authority.OPERATE, this::withdraw);
        routes.add(HttpMethod.POST, STACKS, Authority.DIAGNOSE, this::requestStacks);
        routes.add(HttpMethod.GET, STACKS, Authority.DIAGNOSE, this::stacks);
    }

    private ServerResponse list(ApiRequest request) {
        request.onlyQuery();
        ObjectNode json = ApiViews.object();
        ArrayNode array = json.putArray("nodes");
        this.inspector.nodes().forEach((node) -> array.add(NodeViews.node(node)));
        return Responses.json(json);
    }

    private ServerResponse find(ApiRequest request) {
        request.onlyQuery();
        NodeStatus node = reported(request);
        WantedNodeState wanted = (this.nodes == null) ? WantedNodeState.NONE
                : this.nodes.wanted(node.id()).orElseThrow(() -> gone(request));
        ObjectNode json = NodeViews.node(node);
        json.set("wanted", NodeViews.wanted(wanted));
        return Responses.json(json);
    }

    private ServerResponse override(ApiRequest request) {
        request.onlyQuery();
        JsonObjectReader body = request.body("listener", "queue", "concurrency", "paused", "forMillis");
        String listener = body.text("listener", MAX_LISTENER);
        QueueName queue = queue(body.text("queue", MAX_LISTENER));
        Duration duration = body.millis("forMillis", USUAL_DURATION, Duration.ofSeconds(1),
                NodeOperations.MAX_DURATION);
        OverrideRequest wanted = ProblemException.valid(() -> new OverrideRequest(listener, queue.value(),
                body.integer("concurrency"), body.flagOrNull("paused"), request.principal(), duration));
        requireListener(request, wanted);
        ListenerOverride override = this.audit
            .of(new AuditedOperation(request.principal(), "override-listener", queue, filter(request, wanted)),
                    () -> ProblemException.valid(() -> operations(request).override(request.node(), wanted)),
                    (done) -> done.isPresent() ? 1 : 0)
            .orElseThrow(() -> gone(request));
        return Responses.json(NodeViews.override(override));
    }

    private static String filter(ApiRequest request, OverrideRequest wanted) {
        return ApiViews.object()
            .put("node", request.node())
            .put("listener", wanted.listener())
            .put("concurrency", wanted.concurrency())
            .put("paused", wanted.paused())
            .put("forMillis", wanted.duration().toMillis())
            .toString();
    }

    private ServerResponse withdraw(ApiRequest request) {
        request.onlyQuery("listener", "queue");
        String listener = request.required("listener");
        QueueName queue = queue(request.required("queue"));
        String filter = ApiViews.object().put("node", request.node()).put("listener", listener).toString();
        boolean withdrawn = this.audit
            .of(new AuditedOperation(request.principal(), "withdraw-override", queue, filter),
                    () -> operations(request).withdraw(request.node(), listener, queue.value()),
                    (done) -> done.orElse(false) ? 1 : 0)
            .orElseThrow(() -> gone(request));
        return Responses.json(ApiViews.object().put("result", withdrawn ? "WITHDRAWN" : "NONE"));
    }

    private ServerResponse requestStacks(ApiRequest request) {
        request.onlyQuery();
        WantedNodeState.StackRequest requested = this.audit
            .of(new AuditedOperation(request.principal(), "request-stacks", null, request.node()),
                    () -> operations(request).requestStacks(request.node(), request.principal()),
                    (done) -> done.isPresent() ? 1 : 0)
            .orElseThrow(() -> gone(request));
        return Responses.json(NodeViews.stackRequest(requested));
    }

    private ServerResponse stacks(ApiRequest request) {
        request.onlyQuery();
        if (operations(request).wanted(request.node()).isEmpty()) {
            throw gone(request);
        }
        return Responses.json(NodeViews.stacks(operations(request).stacks(request.node())));
    }

    private static QueueName queue(String name) {
        return ProblemException.valid(() -> new QueueName(name));
    }

    private NodeOperations operations(ApiRequest request) {
        if (this.nodes == null) {
            throw new ProblemException(new Problem(Kind.NOT_FOUND,
                    "Node %s cannot be changed: this application has no bean of type NodeOperations"
                        .formatted(Json.quoted(request.node()))));
        }
        return this.nodes;
    }

    private NodeStatus reported(ApiRequest request) {
        return this.inspector.nodes()
            .stream()
            .filter((node) -> node.id().equals(request.node()))
            .findFirst()
            .orElseThrow(() -> gone(request));
    }

    /** An override for a listener that does not exist would have no effect. */
    private void requireListener(ApiRequest request, OverrideRequest wanted) {
        Optional<NodeStatus.ListenerStatus> listener = reported(request).listeners()
            .stream()
            .filter((one) -> one.id().equals(wanted.listener()))
            .findFirst();
        if (listener.stream()
            .flatMap((one) -> one.byQueue().stream())
            .noneMatch((one) -> one.queue().equals(wanted.queue()))) {
            throw new ProblemException(
                    new Problem(Kind.NOT_FOUND, "Node %s has no listener %s for queue '%s' that takes overrides"
                        .formatted(Json.quoted(request.node()), Json.quoted(wanted.listener()), wanted.queue())));
        }
    }

    private static ProblemException gone(ApiRequest request) {
        return new ProblemException(new Problem(Kind.NOT_FOUND, "Node %s has stopped, or has not reported for %d s"
            .formatted(Json.quoted(request.node()), NodeOperations.GONE_AFTER.toSeconds())));
    }

}
