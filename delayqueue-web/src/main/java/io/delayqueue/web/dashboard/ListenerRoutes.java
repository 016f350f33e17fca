package io.delayqueue.web.dashboard;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.delayqueue.QueueName;
import io.delayqueue.admin.AuditedOperationEvent.Outcome;
import io.delayqueue.listener.DelayedListenerRegistry;
import io.delayqueue.listener.ListenerContainer;
import io.delayqueue.listener.handler.HandlerOutage;
import io.delayqueue.listener.poll.ListenerStatistics;
import io.delayqueue.web.http.ApiViews;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.RouteTable;
import io.delayqueue.web.http.AuditPublisher;
import io.delayqueue.web.http.AuditedOperation;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.Problem;
import io.delayqueue.web.http.Problem.Kind;
import io.delayqueue.web.http.ProblemException;
import io.delayqueue.web.http.Responses;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/** Lists the listeners of this node, and pauses them here alone. */
final class ListenerRoutes {

    private static final int MAX_ID = 1_000;

    private final Supplier<@Nullable DelayedListenerRegistry> registry;

    private final AuditPublisher audit;

    ListenerRoutes(Supplier<@Nullable DelayedListenerRegistry> registry, AuditPublisher audit) {
        this.registry = registry;
        this.audit = audit;
    }

    void addTo(RouteTable routes) {
        routes.add(HttpMethod.GET, "/listeners", Authority.VIEW, this::list);
        routes.add(HttpMethod.POST, "/listeners/pause", Authority.OPERATE,
                (request) -> act(request, "pause-listener", ListenerContainer::pause));
        routes.add(HttpMethod.POST, "/listeners/resume", Authority.OPERATE,
                (request) -> act(request, "resume-listener", ListenerContainer::resume));
    }

    private ServerResponse list(ApiRequest request) {
        request.onlyQuery();
        ObjectNode json = ApiViews.object();
        ArrayNode listeners = json.putArray("listeners");
        DelayedListenerRegistry registry = this.registry.get();
        if (registry != null) {
            registry.listeners().forEach((listener) -> listeners.add(listener(listener)));
        }
        return Responses.json(json);
    }

    private static ObjectNode listener(ListenerContainer listener) {
        ListenerStatistics statistics = listener.statistics();
        ObjectNode json = ApiViews.object()
            .put("id", listener.id())
            .put("running", listener.isRunning())
            .put("paused", listener.isPaused())
            .put("outage", HandlerOutage.describe(listener.outage()))
            .put("inFlight", statistics.running())
            .put("handled", statistics.handled())
            .put("failed", statistics.failed())
            .put("free", listener.freeHandlers().values().stream().mapToLong(Integer::longValue).sum());
        ArrayNode queues = json.putArray("queues");
        listener.queues().forEach(queues::add);
        return json;
    }

    private ServerResponse act(ApiRequest request, String operation, Consumer<ListenerContainer> what) {
        request.onlyQuery();
        String id = request.body("id").text("id", MAX_ID);
        DelayedListenerRegistry registry = this.registry.get();
        ListenerContainer listener = (registry != null) ? registry.listener(id).orElse(null) : null;
        if (listener == null) {
            throw new ProblemException(new Problem(Kind.NOT_FOUND, "This node has no listener of that id"));
        }
        what.accept(listener);
        List<String> queues = listener.queues();
        this.audit.publish(new AuditedOperation(request.principal(), operation, new QueueName(queues.get(0)), id),
                queues.size(), Outcome.DONE);
        return Responses.done();
    }

}
