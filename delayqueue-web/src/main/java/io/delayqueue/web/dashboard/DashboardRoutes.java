package io.delayqueue.web.dashboard;

import java.util.stream.Stream;

import io.delayqueue.DeadLetter;
import io.delayqueue.DeadLetterFilter;
import io.delayqueue.DeadLetterPage;
import io.delayqueue.DelayQueueOperations;
import io.delayqueue.admin.DelayQueueInspector;
import io.delayqueue.journal.JournalOperations;
import io.delayqueue.web.api.DeadLetterRoutes;
import io.delayqueue.web.api.KnownQueues;
import io.delayqueue.web.http.ApiJsonMapper;
import io.delayqueue.web.http.ApiRequest;
import io.delayqueue.web.http.ApiRoutes;
import io.delayqueue.web.http.Authority;
import io.delayqueue.web.http.JsonObjectReader;
import io.delayqueue.web.http.Responses;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.function.ServerResponse;

/** Serves the data of the dashboard that the API does not have. */
final class DashboardRoutes {

    private final DelayQueueOperations operations;

    private final DelayQueueInspector inspector;

    private final OverviewCache overviews;

    private final NodeThroughput throughput;

    /** Whether the application records the history of messages. */
    private final boolean history;

    private final @Nullable JournalOperations journal;

    DashboardRoutes(DashboardServices sources) {
        this.operations = sources.operations();
        this.inspector = sources.inspector();
        this.overviews = new OverviewCache(sources.inspector(), sources.server(),
                new AlertEvaluator(sources.consumed()), System::nanoTime, sources.commandTimeout());
        this.throughput = new NodeThroughput(sources.listeners());
        this.history = sources.history() != null;
        this.journal = sources.journal();
    }

    void addTo(ApiRoutes routes) {
        routes.add(HttpMethod.GET, "/overview", Authority.VIEW, this::overview);
        routes.add(HttpMethod.GET, "/queues/{queue}", Authority.VIEW, this::queue);
        routes.add(HttpMethod.POST, "/queues/{queue}/dead-letters/search", Authority.VIEW, this::search);
    }

    private ServerResponse overview(ApiRequest request) {
        request.onlyQuery();
        OverviewCache.Snapshot snapshot = this.overviews.get();
        ObjectNode json = ApiJsonMapper.object()
            .put("now", ApiJsonMapper.time(snapshot.now()))
            .put("principal", request.principal())
            .put("history", this.history);
        ArrayNode authorities = json.putArray("authorities");
        Stream.of(Authority.values()).filter(request::permits).forEach((one) -> authorities.add(one.name()));
        ArrayNode queues = json.putArray("queues");
        snapshot.read().overviews().forEach((queue) -> queues.add(ApiJsonMapper.overview(queue)));
        json.set("failures", ApiJsonMapper.failures(snapshot.read()));
        ArrayNode alerts = json.putArray("alerts");
        snapshot.alerts().forEach((alert) -> alerts.add(alert.toJson()));
        json.set("throughput", this.throughput.toJson(null));
        return Responses.json(json.put("more", snapshot.more()));
    }

    private ServerResponse queue(ApiRequest request) {
        request.onlyQuery();
        String queue = request.queue().value();
        ObjectNode json = ApiJsonMapper.overview(KnownQueues.overview(this.inspector, request.queue()));
        json.set("dueCounts", ApiJsonMapper.dueCounts(this.inspector.dueForecast(queue)));
        json.set("throughput", this.throughput.toJson(queue));
        return Responses.json(json.put("ledger", this.journal != null && this.journal.covers(queue)));
    }

    /** Filters page by page, so a page may be empty and still not be the last. */
    private ServerResponse search(ApiRequest request) {
        request.onlyQuery("limit");
        JsonObjectReader body = request.body("filter", "cursor");
        DeadLetterFilter filter = DeadLetterRoutes.filter(request, body);
        DeadLetterPage page = this.operations.deadLetters(request.queue().value())
            .list(DeadLetterRoutes.cursor(body.text("cursor")), request.limit());
        boolean open = request.permits(Authority.PAYLOAD);
        ObjectNode json = ApiJsonMapper.object();
        ArrayNode array = json.putArray("deadLetters");
        for (DeadLetter found : page.deadLetters()) {
            if (filter.matches(found)) {
                array.add(ApiJsonMapper.deadLetter(found, open));
            }
        }
        return Responses.json(json.put("nextCursor", page.nextCursor()));
    }

}
